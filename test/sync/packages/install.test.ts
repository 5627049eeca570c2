/** Real daemons install the packages of a program with a real npm, from a registry on this machine. */
import { execFile } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeProgram, type Program } from "../hosts/program.js";
import { type SyncHost, startHosts } from "../hosts/start-hosts.js";
import { Registry } from "./registry.js";

const repository = path.resolve(import.meta.dirname, "../../..");
const { version } = JSON.parse(readFileSync(path.join(repository, "package.json"), "utf8")) as { version: string };

let registry: Registry;
beforeAll(async () => {
  registry = await Registry.start();
  registry.publishFolder(repository);
  const manifest = { name: "greeting", type: "module", main: "index.js" };
  for (const [number, text] of [
    ["1.0.0", "installed"],
    ["1.1.0", "newer"],
  ] as const) {
    registry.publish({
      "package.json": JSON.stringify({ ...manifest, version: number }),
      "index.js": `export const greet = () => "${text}";\n`,
    });
  }
  const foreign = Buffer.alloc(128);
  foreign.writeUInt32BE(0x7f454c46, 0);
  foreign.writeUInt16LE(243, 18);
  registry.publish({
    "package.json": JSON.stringify({ name: "fast", version: "1.0.0" }),
    "build/fast.node": foreign,
  });
}, 120_000);
afterAll(() => registry.close());

/** Writes package.json and the lock that npm makes of it. */
async function lock(program: Program, dependencies: Readonly<Record<string, string>>): Promise<void> {
  const manifest = { name: "site", type: "module", dependencies: { viceroy: version, ...dependencies } };
  writeFileSync(path.join(program.folder, "package.json"), JSON.stringify(manifest));
  rmSync(path.join(program.folder, "package-lock.json"), { force: true });
  const options = ["--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
  // The packages that are here are links, which npm would lock as such.
  const empty = `${program.folder}-lock`;
  mkdirSync(empty, { recursive: true });
  writeFileSync(path.join(empty, "package.json"), JSON.stringify(manifest));
  rmSync(path.join(empty, "package-lock.json"), { force: true });
  await promisify(execFile)("npm", ["install", ...options, `--registry=${registry.url}`], { cwd: empty });
  writeFileSync(
    path.join(program.folder, "package-lock.json"),
    readFileSync(path.join(empty, "package-lock.json"), "utf8"),
  );
}

async function start(count: number, env: Readonly<Record<string, string>> = {}) {
  const started = await startHosts(count, { npm_config_registry: registry.url, ...env });
  const program = await makeProgram(
    started.hosts.map(({ address }) => address),
    started.options,
  );
  return { ...started, program };
}

const install = `await using hosts = attach();
  const report = await hosts.sync({ packages: "install" }).catch(({ message }) => ({ message }));`;

const packagesIn = ({ cache }: SyncHost) =>
  readdirSync(path.join(cache, "viceroy/packages")).filter((name) => name !== "locks");

test("hosts install the packages of the lock, once for each lock, and processes load them from the tree", async () => {
  const { hosts, program, end } = await start(2);
  await lock(program, { greeting: "^1.0.0" });
  const script = `await using hosts = attach();
    const report = await hosts.sync({ packages: "install" });
    const sites = hosts.spawnProcs().spawn("sites", Here);
    print({ report, greetings: await values(sites.greeting.call()), folders: await values(sites.folder.call()) });`;
  const { value } = await program.run(script);
  expect(value.greetings).toEqual(["newer", "newer"]);
  const tarballs = () => registry.requests.filter((name) => name === "greeting/1.1.0.tgz").length;
  const fetched = tarballs();
  expect(fetched).toBe(2);
  for (const [rank, host] of hosts.entries()) {
    const [installed = "", ...others] = packagesIn(host);
    expect(others).toEqual([]);
    const inTree = path.join(value.folders[rank], "node_modules/greeting/index.js");
    const inCache = path.join(host.cache, "viceroy/packages", installed, "node_modules/greeting/index.js");
    expect(lstatSync(inTree).ino).toBe(lstatSync(inCache).ino);
    // The packages of the driver's machine were not brought.
    expect(value.report.hosts[rank].bytes).toBeLessThan(13_000_000);
  }
  // Another tree with the same lock installs nothing.
  writeFileSync(path.join(program.folder, "src/text.ts"), 'export const text = "edited";\n');
  const again = (await program.run(script)).value;
  expect(again.folders).not.toEqual(value.folders);
  expect(again.greetings).toEqual(["newer", "newer"]);
  expect(tarballs()).toBe(fetched);
  // Another lock is another installation.
  await lock(program, { greeting: "1.0.0" });
  expect((await program.run(script)).value.greetings).toEqual(["installed", "installed"]);
  expect(packagesIn(hosts[0]!)).toHaveLength(2);
  end();
});

test("a lock that is missing, or does not fit package.json, is refused before anything is brought", async () => {
  const { hosts, program, end } = await start(1);
  const here = `cannot use the packages of the program in ${program.folder}`;
  const instead = 'or leave packages: "install" out, so that the hosts get the packages of this machine';
  const refusal = `await using hosts = attach();
    print(await hosts.sync({ packages: "install" }).catch(({ message, code }) => ({ message, code })));`;
  expect((await program.run(refusal)).value).toEqual({
    code: "packages-failed",
    message:
      `${here}: ${program.folder}/package-lock.json: ENOENT: no such file or directory, open '${program.folder}/package-lock.json'; ` +
      `correct the lock, ${instead}`,
  });
  await lock(program, { greeting: "1.0.0" });
  const manifest = JSON.parse(readFileSync(path.join(program.folder, "package.json"), "utf8"));
  manifest.dependencies.greeting = "^2.0.0";
  writeFileSync(path.join(program.folder, "package.json"), JSON.stringify(manifest));
  expect((await program.run(refusal)).value).toEqual({
    code: "packages-failed",
    message:
      `${here}: package-lock.json does not fit package.json: dependencies has "^2.0.0" for greeting, and the lock "1.0.0"; ` +
      `run npm install, ${instead}`,
  });
  expect(readdirSync(path.join(hosts[0]!.cache, "viceroy"))).not.toContain("packages");
  end();
});

test("a host that cannot install the packages is named, with what npm says", async () => {
  const { hosts, program, end } = await start(1, {
    npm_config_replace_registry_host: "always",
    npm_config_registry: "http://127.0.0.1:9",
    npm_config_fetch_retries: "0",
  });
  await lock(program, { greeting: "1.0.0" });
  const { value } = await program.run(`${install} print(report);`);
  const beginning = `cannot bring the code to 1 of 1 host: host ${hosts[0]!.address}: cannot install the packages of the program on ${hostname()}: `;
  expect(value.message.slice(0, beginning.length)).toBe(beginning);
  expect(value.message).toContain("npm ci has ended with 1: ");
  expect(value.message).toContain("ECONNREFUSED");
  expect(value.message).toMatch(
    /; check that this host reaches the registry of npm, or leave packages: "install" out, so that hosts get the packages of the driver's machine$/,
  );
  end();
});

test("an installed package whose addon is for another platform is refused", async () => {
  const { program, end } = await start(1);
  await lock(program, { fast: "1.0.0" });
  const { value } = await program.run(`${install} print(report);`);
  expect(value.message).toContain(
    `cannot use the addon node_modules/fast/build/fast.node: it is built for linux-riscv64, and the host ${hostname()} is `,
  );
  end();
});
