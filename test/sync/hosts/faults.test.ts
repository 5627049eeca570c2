/** Real hosts that lie, stall and die while they serve code to others. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { copyBuild } from "./copied-build.js";
import { makeProgram } from "./program.js";
import { startHosts } from "./start-hosts.js";

const batchLine = /batch\.blobs\.push\(blob\)[;,]/;

/** Copies the build, and changes what its stores do with each blob that they serve. Returns its command. */
function buildThat(serves: string): string {
  const { dist, command } = copyBuild();
  const file = path.join(dist, "sync.mjs");
  const text = readFileSync(file, "utf8");
  expect(text).toMatch(batchLine);
  writeFileSync(file, text.replace(batchLine, serves));
  return command;
}

/** Brings a program to three hosts, of which the first, from which both others fetch, behaves as told. */
async function syncWith(serves: string) {
  const { hosts, options, end } = await startHosts(3, {}, [buildThat(serves)]);
  const addresses = hosts.map(({ address }) => address);
  const program = await makeProgram(addresses, options);
  const { value } = await program.run(`
    await using hosts = attach();
    const report = await hosts.sync().catch(({ message }) => message);
    const others = hosts.slice({ hosts: viceroy.range(1, 3) });
    print({ report, texts: typeof report === "string" ? [] : await values(others.spawnProcs().spawn("sites", Here).text.call()) });
  `);
  end();
  return { value, addresses };
}

test("a host that sends wrong bytes is skipped, and the others get the code", async () => {
  const { value } = await syncWith("batch.blobs.push(blob.map((byte) => byte ^ 1));");
  expect(value.report.hosts.map(({ skipped }: { skipped: number }) => skipped > 0)).toEqual([false, true, true]);
  expect(value.texts).toEqual(["first", "first"]);
});

test("a host that stalls is skipped, and the others get the code", async () => {
  const { value } = await syncWith("await new Promise(() => {});");
  expect(value.report.hosts.map(({ skipped }: { skipped: number }) => skipped > 0)).toEqual([false, true, true]);
  expect(value.texts).toEqual(["first", "first"]);
});

test("a host whose store is killed is named, and the others get the code", async () => {
  const { value, addresses } = await syncWith(`process.kill(process.pid, "SIGKILL");`);
  expect(value.report).toMatch(/^cannot bring the code to 1 of 3 hosts: host \S+: /);
  expect(value.report).toContain(`host ${addresses[0]}: `);
  expect(value.report).toContain("SIGKILL");
});

test("hosts fetch from each other: the driver sends one copy", async () => {
  const { hosts, options, end } = await startHosts(4);
  const program = await makeProgram(
    hosts.map(({ address }) => address),
    options,
  );
  const { value } = await program.run(`
    await using hosts = attach();
    for (let i = 0; i < 40; i++) {
      const bytes = Buffer.alloc(65_536);
      crypto.getRandomValues(bytes);
      write("data/" + i, bytes as never);
    }
    print(await hosts.sync());
  `);
  end();
  const fetched = value.hosts as { bytes: number; driverBytes: number; skipped: number }[];
  expect(fetched.map(({ skipped }) => skipped)).toEqual([0, 0, 0, 0]);
  const sent = fetched.reduce((sum, { driverBytes }) => sum + driverBytes, 0);
  for (const { bytes } of fetched) expect(sent).toBeLessThan(1.05 * bytes);
  expect(sent).toBeGreaterThan(0.95 * fetched[0]!.bytes);
});
