/** A fast producer and a slow consumer, in both directions. Memory stays constant, and nothing is lost. */
import { setTimeout as delay } from "node:timers/promises";
import { BackpressureError, Channel, codec, thisHost } from "viceroy";
import "../generated/registry.js";
import { SlowArchive } from "./slow-archive.js";
import { TestCamera } from "./test-camera.js";

await using procs = thisHost().spawnProcs({});

// Pulling: the camera goes at the pace of its viewer. It is ahead by at most the window of the stream.
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
// Leaving the loop ends the generator in the other process.
let status = await camera.status.callOne();
while (status.filming) status = await camera.status.callOne();
console.log(`stopped watching after ${watched}: the camera stopped at ${status.taken}`);

// Pushing: a sender that awaits the result of `broadcast` goes at the receiver's pace.
const [port, progress] = Channel.open(codec.uint32);
const archive = procs.spawn("archive", SlowArchive, port);
console.log("storing 20,000 notes, with await:");
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

// A sender that does not await gets an error when the send window is full. Nothing is dropped, and memory stays bounded.
let queued = 0;
try {
  for (;;) {
    archive.store.broadcast(`note ${queued}`);
    queued++;
  }
} catch (error) {
  if (!(error instanceof BackpressureError)) throw error;
  console.log(`without await: refused after ${queued} notes\n  ${error.message}`);
}

// The archive stores the notes that are queued, and reports them, before the channel is closed.
await archive.stop();
progress.close();
