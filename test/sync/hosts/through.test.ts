/** Tests that the code of a driver that reaches one host alone crosses to it about once, and that hosts pass it on to each other. */
import { connect, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { makeProgram } from "./program.js";
import { startHosts } from "./start-hosts.js";

const MiB = 1024 * 1024;

/** Copies the bytes of connections to a host, and counts those to the host. */
async function counting(target: string): Promise<{ readonly address: string; readonly sent: () => number }> {
  let sent = 0;
  const server = createServer((near) => {
    const far = connect(Number(/:(\d+)$/.exec(target)![1]), "127.0.0.1");
    for (const socket of [near, far]) socket.on("error", () => {});
    near.on("data", (bytes: Buffer) => {
      sent += bytes.length;
    });
    near.pipe(far).pipe(near);
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return { address: `tls://127.0.0.1:${port}`, sent: () => sent };
}

test("code crosses to the gateway about once for four hosts, and an edit is answered by all of them", async () => {
  const { hosts, options, end } = await startHosts(4);
  onTestFinished(end);
  const { address, sent } = await counting(hosts[0]!.address);
  const program = await makeProgram(
    hosts.map((host) => host.address),
    { ...options, through: address },
  );
  const { value } = await program.run(`
    const { randomBytes } = await import("node:crypto");
    await using hosts = attach();
    write("src/large.txt", randomBytes(${(6 * MiB) / 2}).toString("hex"));
    const said = [];
    const copies = [];
    for (const text of ["first", "second"]) {
      write("src/text.ts", "export const text = " + JSON.stringify(text) + ";\\n");
      const report = await hosts.sync();
      copies.push(report.hosts[3].bytes);
      await using procs = hosts.spawnProcs();
      said.push(await values(procs.spawn("sites", Here).text.call()));
    }
    print({ said, copies });
  `);
  expect(value.said).toEqual([Array(4).fill("first"), Array(4).fill("second")]);
  const [copy, edit] = value.copies;
  expect(copy).toBeGreaterThan(6 * MiB);
  expect(edit).toBeLessThan(MiB);
  expect(sent()).toBeLessThan(2 * copy);
});
