/** Two processes pass a ball to each other. Then the program times calls, in sequence and with many in flight. */
import { Channel, thisHost } from "viceroy";
import { type Stroke, StrokeCodec } from "../generated/player.js";
import "../generated/registry.js";
import { TablePlayer } from "./table-player.js";

await using procs = thisHost().spawnProcs({ sides: 2 });
const players = procs.spawn("players", TablePlayer);
const ping = players.slice({ sides: 0 });
const pong = players.slice({ sides: 1 });

// The players hold references to each other and to a port of this program: meshes and ports are ordinary values.
const [port, strokes] = Channel.open(StrokeCodec);
await Promise.all([ping.face.callOne("ping", pong, port), pong.face.callOne("pong", ping, port)]);

console.log("A rally of 6 strokes between two processes:");
ping.hit.broadcast(1, 6);
const rally: Stroke[] = [];
for await (const stroke of strokes) if (rally.push(stroke) === 6) break;
// Order holds for each sender, but not between two senders: a stroke may be reported before the previous one.
rally.sort((a, b) => a.number - b.number);
for (const { player, number } of rally) console.log(`  ${number}  ${player === "ping" ? "ping ->" : "     <- pong"}`);

const rounds = 20_000;
const warmUp = 2_000;
for (let i = 0; i < warmUp; i++) await pong.bounce.callOne(i);

const times: number[] = [];
for (let i = 0; i < rounds; i++) {
  const start = performance.now();
  await pong.bounce.callOne(i);
  times.push(performance.now() - start);
}
times.sort((a, b) => a - b);
const percentile = (p: number) => (1000 * times[Math.floor(times.length * p)]!).toFixed(0);
console.log(`${rounds} sequential calls: half within ${percentile(0.5)} us, 99 % within ${percentile(0.99)} us`);

const inFlight = 64;
const start = performance.now();
let next = 0;
await Promise.all(
  Array.from({ length: inFlight }, async () => {
    while (next < rounds) await pong.bounce.callOne(next++);
  }),
);
const perSecond = (1000 * rounds) / (performance.now() - start);
console.log(`${rounds} calls, ${inFlight} in flight: ${Math.round(perSecond).toLocaleString("en")} calls a second`);
