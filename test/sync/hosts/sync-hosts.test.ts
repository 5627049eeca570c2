/** Code is brought to real daemons with TLS, which have folders of their own, and processes run it there. */
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { makeProgram } from "./program.js";
import { startHosts } from "./start-hosts.js";

const addressesOf = (hosts: readonly { readonly address: string }[]) => hosts.map(({ address }) => address);

test("processes on hosts run the code that was brought there, in its folder", async () => {
  const { hosts, options, end } = await startHosts(3);
  const program = await makeProgram(addressesOf(hosts), options);
  const { value } = await program.run(`
    await using hosts = attach();
    const report = await hosts.sync();
    const sites = hosts.spawnProcs().spawn("sites", Here);
    const [texts, modules, folders, greetings] = await Promise.all(
      [sites.text, sites.module, sites.folder, sites.greeting].map((endpoint) => values(endpoint.call())));
    print({ report, texts, modules, folders, greetings });
  `);
  end();
  expect(value.texts).toEqual(["first", "first", "first"]);
  expect(value.greetings).toEqual(["hello", "hello", "hello"]);
  for (const [rank, { store }] of hosts.entries()) {
    const folder = path.join(store, "trees", value.report.tree);
    expect(value.report.hosts[rank].folder).toBe(folder);
    expect(value.folders[rank]).toBe(folder);
    expect(value.modules[rank]).toBe(pathToFileURL(`${folder}/src/site.ts`).href);
    // A name that stays leads to the tree.
    const [name = ""] = readdirSync(path.join(store, "current"));
    expect(realpathSync(path.join(store, "current", name))).toBe(folder);
    expect(readlinkSync(path.join(store, "current", name))).toBe(path.join("..", "trees", value.report.tree));
  }
});

test("a process on a host brings the code that was brought to it to a further host, whose processes run it there", async () => {
  const { hosts, options, end } = await startHosts(2);
  const program = await makeProgram(addressesOf(hosts.slice(0, 1)), options);
  const { value } = await program.run(`
    await using hosts = attach();
    await hosts.sync();
    const site = hosts.spawnProcs().spawn("sites", Here);
    print(await site.moduleOnNext.callOne(${JSON.stringify(hosts[1]!.address)}, ${JSON.stringify(JSON.stringify(options))}));
  `);
  end();
  const trees = path.join(hosts[1]!.store, "trees");
  expect(value).toMatch(/\/src\/site\.ts$/);
  expect(value.startsWith(`${pathToFileURL(trees).href}/`), value).toBe(true);
});

test("after an edit, only the difference travels; old processes keep their code, also when they restart, and new ones run the edit", async () => {
  const { hosts, options, end } = await startHosts(2);
  const program = await makeProgram(addressesOf(hosts), options);
  const { value } = await program.run(`
    await using hosts = attach();
    const first = await hosts.sync();
    const restart = { policy: "on-failure", maxRestarts: 3 } as const;
    const old = hosts.spawnProcs({}, { name: "old", restart }).spawn("old sites", Here);
    const before = [await values(old.text.call()), await values(old.pid.call())];
    write("src/text.ts", 'export const text = "second";\\n');
    const second = await hosts.sync();
    const again = await hosts.sync();
    const fresh = hosts.spawnProcs({}, { name: "new" }).spawn("new sites", Here);
    const texts = [await values(old.text.call()), await values(fresh.text.call())];
    await old.crash.callSettled();
    let restarted = before[1];
    while (restarted.some((pid, i) => pid === before[1][i])) {
      restarted = [...(await old.pid.callSettled()).values()].map(({ value }, i) => value ?? before[1][i]);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const after = [await values(old.text.call()), await values(old.folder.call())];
    print({ first, second, again, before: before[0], texts, after });
  `);
  end();
  const { first, second, again } = value;
  expect(value.before).toEqual(["first", "first"]);
  expect(value.texts).toEqual([
    ["first", "first"],
    ["second", "second"],
  ]);
  expect(value.after[0]).toEqual(["first", "first"]);
  expect(value.after[1]).toEqual(first.hosts.map(({ folder }: { folder: string }) => folder));
  for (const host of [0, 1]) {
    // All of the tree the first time, then the edited file and a part of the manifest, then nothing.
    expect(first.hosts[host].bytes).toBeGreaterThan(1_000_000);
    expect(second.hosts[host].bytes).toBeLessThan(200_000);
    expect(second.hosts[host].bytes).toBeGreaterThan(0);
    expect(again.hosts[host].bytes).toBe(0);
  }
  expect(again.tree).toBe(second.tree);
});

test("a restart for new code moves running processes to the tree of the last sync, and a slice moves alone", async () => {
  const { hosts, options, end } = await startHosts(2);
  const program = await makeProgram(addressesOf(hosts), options);
  const { value } = await program.run(`
    await using hosts = attach();
    await hosts.sync();
    const restart = { policy: "on-failure", maxRestarts: 3, backoff: 0 } as const;
    const procs = hosts.spawnProcs({}, { restart });
    const sites = procs.spawn("sites", Here);
    const texts = [await values(sites.text.call())];
    write("src/text.ts", 'export const text = "second";\\n');
    const second = await hosts.sync();
    texts.push(await values(sites.text.call()));
    await procs.slice({ hosts: 1 }).restart({ code: true });
    texts.push(await values(sites.text.call()));
    await procs.restart({ code: true });
    texts.push(await values(sites.text.call()));
    await sites.crash.callSettled();
    texts.push(await values(sites.text.with({ wait: true }).call()));
    print({ texts, folders: await values(sites.folder.call()), expected: second.hosts.map(({ folder }) => folder) });
  `);
  end();
  expect(value.texts).toEqual([
    ["first", "first"],
    ["first", "first"],
    ["first", "second"],
    ["second", "second"],
    ["second", "second"],
  ]);
  expect(value.folders).toEqual(value.expected);
});

test("a host that is attached later gets the code of the mesh that grows onto it", async () => {
  const { hosts, options, end } = await startHosts(2);
  const program = await makeProgram(addressesOf(hosts).slice(0, 1), options);
  const { value } = await program.run(`
    await using hosts = attach();
    await hosts.sync();
    const procs = hosts.spawnProcs();
    const sites = procs.spawn("sites", Here);
    await values(sites.text.call());
    write("src/text.ts", 'export const text = "second";\\n');
    hosts.resize({ hosts: 2 }, { addresses: [${JSON.stringify(hosts[1]!.address)}] });
    const more = procs.resize({ hosts: 2 });
    const grown = more.spawn("more", Here);
    print([await values(grown.text.call()), await values(grown.folder.call())]);
  `);
  end();
  const [texts, folders] = value;
  expect(texts).toEqual(["first", "first"]);
  expect(folders[1]).toContain(hosts[1]!.store);
});

test("a host whose folder cannot be written is named, and processes go on to run the earlier code", async () => {
  const { hosts, options, end } = await startHosts(2);
  const program = await makeProgram(addressesOf(hosts), options);
  const { value } = await program.run(`
    await using hosts = attach();
    await hosts.sync();
    write("src/text.ts", 'export const text = "second";\\n');
    const { symlinkSync, renameSync } = await import("node:fs");
    const temporary = ${JSON.stringify(`${hosts[1]!.store}/temporary`)};
    rmSync(temporary, { recursive: true });
    write(temporary, "a file in the place of the folder");
    const error = await hosts.sync().catch((error) => error);
    const sites = hosts.spawnProcs().spawn("sites", Here);
    print({ message: error.message, code: error.code, isSync: error instanceof viceroy.SyncError, texts: await values(sites.text.call()) });
  `);
  end();
  expect(value.message.replace(/'[^']*'/, "FILE")).toBe(
    `cannot bring the code to 1 of 2 hosts: host ${hosts[1]!.address}: cannot store a blob on ${hostname()}: ENOTDIR: not a directory, ` +
      `open FILE, got ${hosts[1]!.store}`,
  );
  expect(value.code).toBe("host-failed");
  expect(value.isSync).toBe(true);
  expect(value.texts).toEqual(["first", "first"]);
});

test("a file that changes while the code travels fails the sync, by its name, and the next sync brings it", async () => {
  const { hosts, options, end } = await startHosts(2);
  const program = await makeProgram(addressesOf(hosts), options);
  const { value } = await program.run(`
    await using hosts = attach();
    const change = (round) => write("src/text.ts", 'export const text = "' + round + '";\\n');
    let rounds = 0;
    // This is called when the scan has ended, and before the files are read once more.
    const onProgress = ({ done }) => void (done === 0 && rounds++ === 0 && change("changed"));
    const failed = await hosts.sync({ onProgress }).then(() => "ok", (error) => error.name + " " + error.code + ": " + error.message);
    await hosts.sync({ onProgress });
    print({ failed, texts: await values(hosts.spawnProcs().spawn("sites", Here).text.call()) });
  `);
  end();
  expect(value.failed).toBe(
    `SyncError changed: cannot sync ${program.folder}/src/text.ts: it has changed since it was scanned; sync again, or exclude it if a ` +
      "program writes it",
  );
  expect(value.texts).toEqual(["changed", "changed"]);
});

test("a program that does not sync loads from the paths of the driver, and nothing is stored", async () => {
  const { hosts, options, end } = await startHosts(1);
  const program = await makeProgram(addressesOf(hosts), options);
  const { value } = await program.run(`
    await using hosts = attach();
    print(await values(hosts.spawnProcs().spawn("sites", Here).module.call()));
  `);
  end();
  expect(value).toEqual([pathToFileURL(`${program.folder}/src/site.ts`).href]);
  expect(existsSync(hosts[0]!.store)).toBe(false);
});

test("the working directory, the bootstrap module and the options of Node.js are those of the tree", async () => {
  const { hosts, options, end } = await startHosts(1);
  const program = await makeProgram(addressesOf(hosts), options);
  const { value } = await program.run(`
    write("hooks/preload.cjs", "globalThis.preloaded = __filename;");
    write("hooks/boot.mjs", "import { writeFileSync } from 'node:fs';\\nexport default () => writeFileSync('booted', [process.cwd(), globalThis.preloaded, import.meta.url].join(' '));");
    await using hosts = attach();
    const report = await hosts.sync();
    const { folder } = report.hosts[0];
    process.chdir("hooks");
    await hosts.sync();
    const procs = hosts.spawnProcs({}, {
      bootstrap: path.resolve("boot.mjs"),
      execArgv: ["--require=" + path.resolve("preload.cjs")],
    });
    await values(procs.spawn("sites", Here).text.call());
    print(folder);
  `);
  end();
  const booted = readFileSync(`${value}/hooks/booted`, "utf8").split(" ");
  expect(booted).toEqual([
    `${value}/hooks`,
    `${value}/hooks/preload.cjs`,
    pathToFileURL(`${value}/hooks/boot.mjs`).href,
  ]);
});
