/**
 * A driver that asks a host behind a gateway for many bytes. Its argument is a JSON object with the addresses. It prints
 * `going` when the first answer has come, and `done` when it has all of them.
 */
import { attachHosts } from "viceroy";
import "../../fixtures/crew/generated/registry.js";
import { HonestTally } from "../../fixtures/crew/src/honest-tally.js";

const { address, through, token, calls, bytes } = JSON.parse(process.argv[2]!);
const patience = { timeout: 60_000, silence: 60_000, keepAlive: 60_000, absence: 60_000 };
const hosts = attachHosts([address], { token, through, ...patience });
// What waits for one actor is limited, so there are several.
const tallies = hosts.spawnProcs({ gpus: 4 }).spawn("tallies", HonestTally);
const block = new Uint8Array(bytes).fill(7);
const answers = Array.from({ length: calls }, (_, i) => tallies.slice({ hosts: 0, gpus: i % 4 }).echo.callOne(block));
await Promise.race(answers);
process.stdout.write("going\n");
for (const answer of await Promise.all(answers)) {
  if (answer.length !== bytes || answer.some((byte) => byte !== 7)) throw new Error("the bytes have changed");
}
process.stdout.write("done\n");
await hosts.stop();
