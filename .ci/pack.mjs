/**
 * Packs all packages: `node .ci/pack.mjs [folder]` writes the tarballs of `viceroy`, `@viceroy/compiler` and the addon of
 * this platform into a folder, by default the checkout. dist/ must be built. The build of the addon needs g++.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { build, transform } from "esbuild";
import { addonManifest, compilerManifest } from "./packages/manifests.mjs";
import { root, told } from "./steps.mjs";

const from = process.env.INIT_CWD ?? process.cwd();
const target = path.resolve(from, process.argv[2] ?? root);
const platform = `${process.platform}-${process.arch}`;
/** The platforms with an addon, as native/prebuilt-addon.ts names them. */
const platforms = ["linux-x64"];

const work = mkdtempSync(path.join(tmpdir(), "viceroy-pack-"));
try {
  mkdirSync(target, { recursive: true });
  await packRuntime();
  await pack(path.join(root, "dist/node_modules", compilerManifest.name));
  if (platforms.includes(platform)) await packAddon(`${platform}-gnu`);
  else console.log(`skipped: there is no package with an addon for ${platform}`);
} finally {
  rmSync(work, { recursive: true });
}

/**
 * Packs `viceroy`. Its manifest in the tarball also names the packages with addons. They are not in the manifest of the
 * checkout, because npm would install addons there that were built from other sources.
 */
async function packRuntime() {
  const folder = path.join(work, "viceroy");
  const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const { scripts: _, devDependencies: __, overrides: ___, ...published } = manifest;
  for (const file of ["dist", "README.md", "LICENSE"]) {
    const isPacked = (name) => !name.endsWith(".map") && name !== path.join(root, "dist/node_modules");
    cpSync(path.join(root, file), path.join(folder, file), { recursive: true, filter: isPacked });
  }
  await removeIndentation(path.join(folder, "dist"));
  const addons = platforms.map((name) => [`@viceroy/addon-${name}-gnu`, manifest.version]);
  writeManifest(folder, { ...published, optionalDependencies: Object.fromEntries(addons) });
  await pack(folder);
}

/**
 * Removes the spaces of formatting from scripts, a fifth of them. Names stay, so that stack traces are readable. Lines would tell nothing
 * more, because the packages have no source maps.
 */
async function removeIndentation(folder) {
  const scripts = readdirSync(folder, { recursive: true }).filter((name) => /\.c?js$/.test(name) && !isMinified(name));
  await Promise.all(
    scripts.map(async (name) => {
      const file = path.join(folder, name);
      const { code } = await transform(readFileSync(file, "utf8"), {
        minifyWhitespace: true,
        lineLimit: 200,
        charset: "ascii",
      });
      writeFileSync(file, code, { mode: statSync(file).mode });
    }),
  );
}

/** The parser of arguments is minified already, and esbuild would drop what tells Node.js the names of its exports. */
function isMinified(name) {
  return path.basename(name) === "commander.cjs";
}

async function packAddon(name) {
  const folder = path.join(work, name);
  mkdirSync(folder);
  // The sources are bundled, because Node.js 20 cannot run TypeScript. The file is in the checkout, where the headers are.
  const builder = path.join(root, `dist/build-addon-${process.pid}.mjs`);
  await build({
    absWorkingDir: root,
    stdin: {
      contents: `export { buildAddon } from "./native/build.ts"; export { addonFileName } from "./native/addon-location.ts";`,
      resolveDir: root,
    },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: builder,
    logLevel: "warning",
  });
  try {
    const { buildAddon, addonFileName } = await import(pathToFileURL(builder).href);
    const file = addonFileName("rdma");
    // Without symbols, the file has a third of its size.
    await buildAddon("rdma", { file: path.join(folder, file), flags: ["-s"] });
    cpSync(path.join(root, "LICENSE"), path.join(folder, "LICENSE"));
    writeManifest(folder, addonManifest(name, file));
  } finally {
    rmSync(builder);
  }
  await pack(folder);
}

function writeManifest(folder, manifest) {
  writeFileSync(path.join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

async function pack(folder) {
  const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", target];
  const { code, text } = await told("npm", args, { cwd: folder });
  if (code !== 0) throw new Error(`cannot pack ${folder}: npm ended with code ${code}\n${text}`);
  const [{ name, filename, size, unpackedSize }] = JSON.parse(text.slice(text.indexOf("[")));
  console.log(`${name}: ${path.join(target, filename)}, ${size} bytes, ${unpackedSize} bytes unpacked`);
}
