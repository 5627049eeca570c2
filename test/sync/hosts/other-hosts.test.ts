/** Hosts with another clock or an older build, and programs that bring code to the same hosts at the same time. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { copyBuild } from "./copied-build.js";
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

test("a host whose build is too old to receive code is named", async () => {
  const old = copyBuild();
  // Builds that cannot receive code have no such module.
  rmSync(path.join(old.dist, "sync.mjs"));
  const { version } = JSON.parse(readFileSync(path.join(old.dist, "../package.json"), "utf8"));
  const { hosts, options, end } = await startHosts(2, {}, [undefined, old.command]);
  const program = await makeProgram(
    hosts.map(({ address }) => address),
    options,
  );
  const { value } = await program.run(`
    await using hosts = attach();
    print(await hosts.sync().then(() => "it was not refused", (error) => error.message));
  `);
  end();
  expect(value).toBe(
    `cannot bring the code to 1 of 2 hosts: host ${hosts[1]!.address}: its build of Viceroy cannot receive code; ` +
      `install Viceroy ${version} there, which is the version of the program`,
  );
});
