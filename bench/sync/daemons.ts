/**
 * Brings one changed file to 200 daemons of hosts on this machine, each with a store of its own, and measures until the last of them has
 * switched to the new tree. The daemons share one process, their stores are processes. Run it with
 * `node --import tsx bench/sync/daemons.ts [rounds] [daemons]`; `dist/` must be built.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const [rounds = 5, count = 200] = process.argv.slice(2).map(Number);
const inRepository = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url));
const token = "a token of the benchmark";
const work = mkdtempSync(path.join(tmpdir(), "sync-daemons-"));

// The runtime finds its other files, such as the one that processes start with, beside its own file.
const daemons = path.join(work, "daemons.mjs");
await build({
  entryPoints: [inRepository("bench/sync/daemon-process.ts")],
  outfile: daemons,
  bundle: true,
  platform: "node",
  format: "esm",
  external: ["ws", "*.node"],
});
for (const file of readdirSync(inRepository("dist"))) symlinkSync(inRepository(`dist/${file}`), path.join(work, file));

const child = spawn(process.execPath, [daemons, String(count), work, token], { stdio: ["ignore", "pipe", "inherit"] });
try {
  const addresses: string[] = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (part) => {
      text += part;
      if (text.endsWith("]\n")) resolve(JSON.parse(text));
    });
    child.once("close", () => reject(new Error("the daemons have ended")));
  });
  await measure(addresses);
} finally {
  child.kill("SIGKILL");
  await new Promise((resolve) => setTimeout(resolve, 1000));
  rmSync(work, { recursive: true, force: true });
}

async function measure(addresses: readonly string[]): Promise<void> {
  const program = path.join(work, "program");
  mkdirSync(path.join(program, "src"), { recursive: true });
  writeFileSync(path.join(program, "package.json"), "{}");
  for (let i = 0; i < 100; i++)
    writeFileSync(path.join(program, "src", `module-${i}.js`), `export const value = ${i};\n`);
  process.env["XDG_CACHE_HOME"] = path.join(work, "cache-driver");
  mkdirSync(process.env["XDG_CACHE_HOME"], { mode: 0o700 });
  const { attachHosts } = (await import(inRepository("dist/index.js"))) as typeof import("../../runtime/index.js");
  const hosts = attachHosts([...addresses], { token, silence: 60_000, keepAlive: 120_000, timeout: 120_000 });
  const options = { roots: [program], packages: false };
  const first = await seconds(() => hosts.sync(options));
  const edits: number[] = [];
  for (let round = 0; round < rounds; round++) {
    writeFileSync(path.join(program, "src", "module-7.js"), `export const value = "edit ${round}";\n`);
    edits.push(await seconds(() => hosts.sync(options)));
    checkSwitched(`edit ${round}`);
  }
  const sorted = edits.sort((left, right) => left - right);
  console.log(
    `100 files to ${count} daemons ${first.toFixed(2)} s, with the start of their stores; one changed file ` +
      `${sorted[sorted.length >> 1]!.toFixed(2)} s (${sorted[0]!.toFixed(2)}-${sorted.at(-1)!.toFixed(2)})`,
  );
  await hosts.stop();
}

/** Checks that the current tree of each store has the text. */
function checkSwitched(text: string): void {
  for (let index = 0; index < count; index++) {
    const current = path.join(work, `cache-${index}`, "viceroy", "code", "current");
    const trees = readdirSync(current).map((name) => path.join(current, name));
    const found = trees.some((tree) =>
      readdirSync(tree, { recursive: true, encoding: "utf8" }).some(
        (file) => file.endsWith("module-7.js") && readFileSync(path.join(tree, file), "utf8").includes(text),
      ),
    );
    if (!found) throw new Error(`daemon ${index} has not switched to ${text}`);
  }
}

async function seconds(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return (performance.now() - start) / 1000;
}
