/**
 * A driver that sends numbered calls and many bytes to a host behind a gateway, with a pause between. Its argument is a JSON object
 * with the addresses. It prints `done: …`, or the error with which it ends.
 */
import { attachHosts } from "viceroy";
import "../../fixtures/crew/generated/registry.js";
import { HonestTally } from "../../fixtures/crew/src/honest-tally.js";
import { SteelWorker } from "../../fixtures/crew/src/steel-worker.js";

const MiB = 1024 * 1024;
const { address, through, token, pause = 0, timeout = 60_000 } = JSON.parse(process.argv[2]!);
try {
  await using hosts = attachHosts([address], {
    token,
    through,
    timeout,
    silence: 60_000,
    keepAlive: 60_000,
    absence: 60_000,
  });
  const procs = hosts.spawnProcs();
  const worker = procs.spawn("workers", SteelWorker).slice({ hosts: 0 });
  const tally = procs.spawn("tallies", HonestTally).slice({ hosts: 0 });
  await worker.keep.callOne(new Uint8Array([0]));
  const half = async (first: number) => {
    const answers = Array.from({ length: 200 }, (_, i) => worker.keep.callOne(new Uint8Array([(first + i + 1) % 256])));
    const block = new Uint8Array(8 * MiB).fill(first % 251);
    const back = await tally.echo.callOne(block);
    if (Buffer.compare(back, block) !== 0) throw new Error("the bytes have changed");
    for (const [i, answer] of (await Promise.all(answers)).entries()) {
      if (answer !== (first + i) % 256) throw new Error(`call ${first + i} was answered by ${answer}`);
    }
  };
  await half(0);
  await new Promise((resolve) => setTimeout(resolve, pause));
  await half(200);
  process.stdout.write("done: 400 calls in order, 16 MiB in each direction\n");
} catch (error) {
  process.stdout.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
