/** A package of actors that is installed on one host and not on another. The hosts see different folders. */
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { startHost } from "../host/start-host.js";
import { compiled, counterPackages, linkedWorkspace, manifest, runMain } from "./light-workspace.js";

const namespaces = ["unshare", "--user", "--map-root-user", "--mount", "--uts"];
const hasNamespaces = spawnSync(namespaces[0] as string, [...namespaces.slice(1), "true"]).status === 0;

/** Returns the command that runs a daemon on a host of a name, with one folder in the place of another. */
function onHost(name: string, folder: string, place: string): readonly string[] {
  const enter = 'hostname "$0" && mount --bind "$1" "$2" && shift 2 && exec "$@"';
  return [...namespaces, "sh", "-c", enter, name, folder, place];
}

async function workspace(): Promise<string> {
  const folder = linkedWorkspace({
    ...counterPackages("counters", "counter-actors"),
    "app/package.json": manifest("app", "./main.ts"),
    "app/viceroy.config.ts": 'export default { actors: ["@acme/counter-actors"] };\n',
    "app/main.ts": `import { MemoryCounter } from "@acme/counter-actors";
import { attachHosts, onUnhandledFault } from "viceroy";
import "./generated/registry.js";
onUnhandledFault(() => {});
await using hosts = attachHosts(process.argv.slice(2));
await using procs = hosts.spawnProcs({ gpus: 1 });
const [first] = await procs.slice({ hosts: 0 }).spawn("first", MemoryCounter).add.call(1).then((answers) => answers.values());
console.log("the first host has it:", first);
await procs.spawn("counters", MemoryCounter).ready.catch((error) => console.log(error.message));
`,
  });
  for (const name of ["counters", "app"]) await compiled(folder, name);
  return folder;
}

const lack = (id: string) =>
  new RegExp(
    `cannot load ${id}: the package @acme/counter-actors is not installed on beta for file:\\S+/app/generated/registry\\.ts; ` +
      "install it there, in the version that the program uses",
  );

test.skipIf(!hasNamespaces)("a host without the package is named, and the other host runs the actors", async () => {
  const folder = await workspace();
  const installed = path.join(folder, "node_modules/@acme");
  // The packages of the second host: all but that of the actors.
  const less = path.join(folder, "packages-of-beta");
  mkdirSync(less);
  for (const name of ["counters", "app"]) symlinkSync(path.join("../..", name), path.join(less, name));
  // A host whose installation was interrupted has an empty folder.
  const broken = path.join(folder, "packages-of-gamma");
  mkdirSync(path.join(broken, "counter-actors"), { recursive: true });
  symlinkSync("../../counters", path.join(broken, "counters"));
  const alpha = await startHost(undefined, [], {}, onHost("alpha", installed, installed));
  for (const packages of [less, broken]) {
    const beta = await startHost(undefined, [], {}, onHost("beta", packages, installed));
    const { code, stdout, stderr } = runMain(folder, "app", alpha.address, beta.address);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("the first host has it: 1\n");
    expect(stdout).toMatch(lack("@acme/counter-actors#MemoryCounter"));
  }
});

test.skipIf(!hasNamespaces)(
  "a host without a package that the actors themselves import names that package",
  async () => {
    const folder = await workspace();
    const tools = path.join(folder, "node_modules/acme-tools");
    mkdirSync(tools);
    writeFileSync(
      path.join(tools, "package.json"),
      '{ "name": "acme-tools", "type": "module", "exports": "./index.js" }',
    );
    writeFileSync(path.join(tools, "index.js"), "export const step = 1;\n");
    const actors = path.join(folder, "counter-actors/index.ts");
    writeFileSync(
      actors,
      `import { CounterActor } from "@acme/counters";
import { step } from "acme-tools";
export class MemoryCounter extends CounterActor { add(by: number) { return by * step; } }
`,
    );
    const empty = path.join(folder, "nothing");
    mkdirSync(empty);
    const alpha = await startHost(undefined, [], {}, onHost("alpha", tools, tools));
    const beta = await startHost(undefined, [], {}, onHost("beta", empty, tools));
    const { stdout } = runMain(folder, "app", alpha.address, beta.address);
    expect(stdout).toMatch(
      /cannot load @acme\/counter-actors#MemoryCounter: the package acme-tools is not installed on beta for file:\S+\/counter-actors\/index\.ts; install it there/,
    );
  },
);
