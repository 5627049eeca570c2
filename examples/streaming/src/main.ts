/** A fast producer and a slow consumer, in both directions: memory stays flat, and nothing is lost. */
import { setTimeout as delay } from "node:timers/promises";
import { BackpressureError, Channel, codec, thisHost } from "viceroy";
import "../generated/registry.js";
import { SlowArchive } from "./slow-archive.js";
import { TestCamera } from "./test-camera.js";

await using procs = thisHost().spawnProcs({});

// We pull: the camera is as fast as its slowest viewer, a little ahead and never more.
const camera = procs.spawn("camera", TestCamera);
console.log("watching slowly:");
let watched = 0;
for await (const [, picture] of camera.film.stream(32, 32)) {
  watched = picture.number;
  await delay(1);
  if (watched % 100 === 0) {
    const { taken } = await camera.status.callOne();
    const ahead = taken - watched;
    console.log(
      `  watched ${watched}, taken ${taken}  ${"=".repeat(watched / 50)}${">".repeat(Math.ceil(ahead / 50))}`,
    );
  }
  if (watched === 500) break;
}
// Leaving the loop has ended the generator in the other process.
let status = await camera.status.callOne();
while (status.filming) status = await camera.status.callOne();
console.log(`stopped watching after ${watched}: the camera stopped at ${status.taken}`);

// We push: who awaits what `broadcast` returns goes at the receiver's pace.
const [port, progress] = Channel.open(codec.uint32);
const archive = procs.spawn("archive", SlowArchive, port);
console.log("storing 20,000 notes, awaiting each:");
let sent = 0;
const sending = (async () => {
  while (sent < 20_000) {
    await archive.store.broadcast(`note ${sent}`);
    sent++;
  }
})();
for await (const stored of progress) {
  if (stored % 5_000 === 0) console.log(`  stored ${stored}, sent ${sent}`);
  if (stored === 20_000) break;
}
await sending;

// Who does not await is told when it is too much: nothing is dropped, and no memory fills up in silence.
let queued = 0;
try {
  for (;;) {
    archive.store.broadcast(`note ${queued}`);
    queued++;
  }
} catch (error) {
  if (!(error instanceof BackpressureError)) throw error;
  console.log(`not awaiting: refused after ${queued} notes\n  ${error.message}`);
}
