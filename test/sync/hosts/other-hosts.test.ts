/** Hosts with another clock or an older build, and programs that bring code to the same hosts at the same time. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { hostAgentDescriptor } from "../../../generated/host-agent.js";
import { formatId } from "../../../runtime/link/address.js";
import { type CopiedBuild, copyBuild, editRuntime } from "./copied-build.js";
import { makeProgram } from "./program.js";
import { startHosts } from "./start-hosts.js";

/** Returns variables with which the clock of a host, and of the processes on it, is wrong. */
function clockOff(milliseconds: number): Record<string, string> {
  const file = path.join(mkdtempSync(path.join(tmpdir(), "clock-")), "clock.mjs");
  writeFileSync(
    file,
    `const now = Date.now;
    globalThis.Date = class extends Date {
      constructor(...args) { super(...(args.length === 0 ? [now() + ${milliseconds}] : args)); }
      static now() { return now() + ${milliseconds}; }
    };`,
  );
  return { NODE_OPTIONS: `--import ${pathToFileURL(file)}` };
}

const hour = 3600 * 1000;

test("hosts whose clocks are an hour off get the code, keep it, and get each edit", async () => {
  const { hosts, options, end } = await startHosts(3, {}, [], [{}, clockOff(hour), clockOff(-hour)]);
  const program = await makeProgram(
    hosts.map(({ address }) => address),
    options,
  );
  const { value } = await program.run(`
    await using hosts = attach();
    const said = [];
    const bytes = [];
    for (const text of ["first", "first", "second"]) {
      write("src/text.ts", "export const text = " + JSON.stringify(text) + ";\\n");
      const report = await hosts.sync();
      bytes.push(report.hosts.map(({ bytes }) => bytes > 0));
      await using procs = hosts.spawnProcs();
      said.push(await values(procs.spawn("sites", Here).text.call()));
    }
    print({ said, bytes });
  `);
  end();
  const all = (text: string) => [text, text, text];
  expect(value.said).toEqual([all("first"), all("first"), all("second")]);
  expect(value.bytes).toEqual([
    [true, true, true],
    [false, false, false],
    [true, true, true],
  ]);
});

test("two programs that bring their code to the same hosts at once both run their own", async () => {
  const { hosts, options, end } = await startHosts(2);
  const addresses = hosts.map(({ address }) => address);
  const programs = [await makeProgram(addresses, options), await makeProgram(addresses, options)];
  const results = await Promise.all(
    programs.map((program, i) =>
      program.run(`
        write("src/text.ts", 'export const text = "program ${i}";\\n');
        for (let n = 0; n < 20; n++) write("src/more/" + n + ".ts", "export const more = " + n + ";\\n".repeat(1000 * (n + ${i})));
        await using hosts = attach();
        await Promise.all([hosts.sync(), hosts.sync()]);
        print(await values(hosts.spawnProcs().spawn("sites", Here).text.call()));
      `),
    ),
  );
  end();
  expect(results.map(({ value }) => value)).toEqual([
    ["program 0", "program 0"],
    ["program 1", "program 1"],
  ]);
});

/** Brings a program to two hosts, of which the second one has another build. @returns the error, and the address of that host */
async function syncWithBuild({ command }: CopiedBuild): Promise<{ readonly error: unknown; readonly address: string }> {
  const { hosts, options, end } = await startHosts(2, {}, [undefined, command]);
  const program = await makeProgram(
    hosts.map(({ address }) => address),
    options,
  );
  const { value } = await program.run(`
    viceroy.onUnhandledFault(() => {});
    await using hosts = attach();
    print(await hosts.sync().then(() => "it was not refused", ({ name, message }) => [name, message]));
  `);
  end();
  return { error: value, address: hosts[1]!.address };
}

function ownVersion(): string {
  return JSON.parse(readFileSync(path.join(import.meta.dirname, "../../../package.json"), "utf8")).version;
}

test("a host with an older Viceroy is refused when it is attached, by the schemas of its agents, and named with both versions", async () => {
  const old = copyBuild();
  // Older versions have other schemas of agents, and no module that receives code.
  rmSync(path.join(old.dist, "sync.mjs"));
  const { fingerprint } = hostAgentDescriptor;
  const version = ownVersion();
  editRuntime(old, { [`"${version}"`]: '"0.0.9"', [`0x${fingerprint.toString(16)}n`]: "0x1234567812345678n" });
  const { error, address } = await syncWithBuild(old);
  expect(error).toEqual([
    "Error",
    `cannot attach host ${address}: the agents of hosts have another schema here, Viceroy 0.0.9, than at the driver, ` +
      `Viceroy ${version}; install versions on both whose agents have the same schemas, as two releases of one minor ` +
      `version have, got fingerprints 1234567812345678 and ${formatId(fingerprint)}`,
  ]);
});

test("a host whose installation cannot receive code says what it lacks", async () => {
  const incomplete = copyBuild();
  const file = path.join(incomplete.dist, "sync.mjs");
  rmSync(file);
  const { error, address } = await syncWithBuild(incomplete);
  const [name, message] = error as [string, string];
  expect(name).toBe("SyncError");
  expect(message).toContain(`cannot bring the code to 1 of 2 hosts: host ${address}: `);
  expect(message).toContain(
    `cannot load sync.mjs of Viceroy ${ownVersion()}: expected ${file}, which the installation on this machine does not have; install viceroy again`,
  );
});
