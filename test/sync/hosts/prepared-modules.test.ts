/** Programs in TypeScript are prepared once, on the machine of the driver, and hosts load what was prepared there. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { makeProgram, type Program } from "./program.js";
import { type SyncHost, startHosts } from "./start-hosts.js";

const site = `import { createRequire } from "node:module";
import { greet } from "greeting";
import { SiteActor } from "../generated/site.js";
import { answer } from "./common.cjs";
import settings from "./settings.json";
import { fail } from "./text.js";

export class Here extends SiteActor {
  text(): string {
    try {
      fail();
      return "";
    } catch (error) {
      return String((error as Error).stack);
    }
  }
  async module(): Promise<string> {
    const name = ["la", "te"].join("");
    const { late } = await import("./" + name + ".js");
    const { answer: required } = createRequire(import.meta.url)("./common.cjs");
    return JSON.stringify([import.meta.url, import.meta.resolve("./text.js"), answer, required, settings.size, late]);
  }
  folder(): string { return process.cwd(); }
  greeting(): string { return greet(); }
  pid(): number { return process.pid; }
  crash(): void { process.exit(7); }
}
`;

const modules: Readonly<Record<string, string>> = {
  "src/site.ts": site,
  "src/text.ts": `interface Unused { readonly a: string }

export function fail(): never {
  throw new Error("on purpose");
}
`,
  "src/late.ts": `export const late: string = "late";\n`,
  "src/settings.json": `{ "size": 3 }\n`,
  "src/common.cts": `const here: string = __filename;
export const answer: string = [here, __dirname].join(" ");
`,
};

async function start(count: number): Promise<{ hosts: readonly SyncHost[]; program: Program; end: () => void }> {
  const { hosts, options, end } = await startHosts(count);
  const addresses = hosts.map(({ address }) => address);
  return { hosts, program: await makeProgram(addresses, options), end };
}

function write(program: Program, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(program.folder, name), text);
}

/** Returns whether processes on a host have prepared a program themselves. */
function hasPrepared({ cache }: SyncHost): boolean {
  return existsSync(path.join(cache, "viceroy-typescript"));
}

const runText = `
  await using hosts = attach();
  const { hosts: [{ folder }] } = await hosts.sync();
  print({ folder, texts: await values(hosts.spawnProcs().spawn("sites", Here).text.call()) });
`;

test("no host prepares a program, and its modules know where their sources are on each host", async () => {
  const { hosts, program, end } = await start(2);
  write(program, modules);
  const { value } = await program.run(`
    await using hosts = attach();
    const report = await hosts.sync();
    const sites = hosts.spawnProcs().spawn("sites", Here);
    print({ report, texts: await values(sites.text.call()), modules: await values(sites.module.call()) });
  `);
  end();
  expect(hosts.map(hasPrepared)).toEqual([false, false]);
  for (const [rank, { folder }] of value.report.hosts.entries()) {
    const common = `${folder}/src/common.cts ${folder}/src`;
    const urls = [`file://${folder}/src/site.ts`, `file://${folder}/src/text.ts`];
    expect(JSON.parse(value.modules[rank])).toEqual([...urls, common, common, 3, "late"]);
    const [message, first, second] = value.texts[rank].split("\n");
    expect(message).toBe("Error: on purpose");
    expect(first).toContain(`${folder}/src/text.ts:4:`);
    expect(second).toContain(`${folder}/src/site.ts:11:`);
  }
});

test("after an edit, only the edited module is prepared anew, and no host prepares it", async () => {
  const { hosts, program, end } = await start(2);
  const first = await program.run(runText);
  write(program, { "src/text.ts": `export const text: string = "second";\n` });
  const second = await program.run(runText);
  end();
  expect([first.value.texts, second.value.texts]).toEqual([
    ["first", "first"],
    ["second", "second"],
  ]);
  expect(hosts.map(hasPrepared)).toEqual([false, false]);
  const contents = [first, second].map(({ value }) => {
    const folder = path.join(value.folder, ".viceroy/typescript");
    const files = readdirSync(folder, { encoding: "utf8", recursive: true }).filter((file) => file.endsWith(".mjs"));
    return new Map(files.map((file) => [file, readFileSync(path.join(folder, file), "utf8")]));
  });
  const [before, after] = contents as [Map<string, string>, Map<string, string>];
  expect([...after.keys()].sort()).toEqual([...before.keys()].sort());
  const changed = [...after].filter(([file, text]) => before.get(file) !== text);
  expect(changed.map(([file]) => path.basename(file))).toEqual([expect.stringMatching(/^[0-9a-f]{16}-text\.ts\.mjs$/)]);
});

test.each([
  ["a source was changed", "src/text.ts", 'export const text = "changed";', "changed"],
  ["a file was added that an import may find", "src/text.tsx", 'export const text = "added";', "first"],
])("a host prepares a program itself if %s there", async (_, file, content, expected) => {
  const { hosts, program, end } = await start(1);
  const { value } = await program.run(`
    await using hosts = attach();
    const { hosts: [{ folder }] } = await hosts.sync();
    write(path.join(folder, ${JSON.stringify(file)}), ${JSON.stringify(content)});
    print(await values(hosts.spawnProcs().spawn("sites", Here).text.call()));
  `);
  end();
  expect(value).toEqual([expected]);
  expect(hosts.map(hasPrepared)).toEqual([true]);
});

test("a host prepares a program itself if its processes begin with another module in TypeScript", async () => {
  const { hosts, program, end } = await start(1);
  write(program, { "src/boot.ts": `export default (): void => { globalThis.process.title = "booted"; };\n` });
  const { value } = await program.run(`
    await using hosts = attach();
    await hosts.sync();
    const procs = hosts.spawnProcs({}, { bootstrap: path.resolve("src/boot.ts") });
    print(await values(procs.spawn("sites", Here).text.call()));
  `);
  end();
  expect(value).toEqual(["first"]);
  expect(hosts.map(hasPrepared)).toEqual([true]);
});
