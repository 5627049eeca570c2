/**
 * Packs all packages: `node .ci/pack.mjs [folder] [platform…]` writes the tarballs of `viceroy`, `@viceroy/compiler` and
 * the addons of the platforms into a folder. The default is the checkout, and all platforms. dist/ must be built.
 * The build of the addon needs g++, and on x64 for arm64 Debian's g++-aarch64-linux-gnu, which `npm run peers` unpacks. A
 * platform whose compiler is missing is skipped, or is an error if VICEROY_PEERS is "required".
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { minify } from "terser";
import { arm64Compiler } from "./arm64.mjs";
import { addonManifest, compilerManifest } from "./packages/manifests.mjs";
import { root, told } from "./steps.mjs";

/** Comments of members that editors and the reference do not show. */
const hiddenComments = /^\/\*\*(?:(?!\*\/)[\s\S])*?@(?:hidden|internal)\b(?:(?!\*\/)[\s\S])*\*\/\n/gm;

const from = process.env.INIT_CWD ?? process.cwd();
const target = path.resolve(from, process.argv[2] ?? root);
const wanted = process.argv.slice(3);

const work = mkdtempSync(path.join(tmpdir(), "viceroy-pack-"));
try {
  mkdirSync(target, { recursive: true });
  const native = await loadNative();
  await packRuntime(native);
  await pack(path.join(root, "dist/node_modules", compilerManifest.name));
  const all = native.prebuiltPlatforms;
  const platforms = wanted.length === 0 ? all : all.filter((platform) => wanted.includes(platform));
  for (const platform of platforms) await packAddon(native, platform);
} finally {
  rmSync(work, { recursive: true });
}

/**
 * Packs `viceroy`. Its manifest in the tarball also names the packages with addons. They are not in the manifest of the
 * checkout, because npm would install addons there that were built from other sources.
 */
async function packRuntime({ prebuiltPlatforms, packageOf }) {
  const folder = path.join(work, "viceroy");
  const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const { scripts: _, devDependencies: __, overrides: ___, ...published } = manifest;
  for (const file of ["dist", "charts", "README.md", "LICENSE"]) {
    const isPacked = (name) => !name.endsWith(".map") && name !== path.join(root, "dist/node_modules");
    cpSync(path.join(root, file), path.join(folder, file), { recursive: true, filter: isPacked });
  }
  await removeFormatting(path.join(folder, "dist"));
  const addons = prebuiltPlatforms.map((platform) => [packageOf(platform), manifest.version]);
  writeManifest(folder, { ...published, optionalDependencies: Object.fromEntries(addons) });
  await pack(folder);
}

/**
 * Shortens scripts by a third, and declarations by a tenth, whose lines lose their indentation. The names of functions and
 * classes stay, so that stack traces are readable; those of variables do not. Lines would tell nothing more, because the
 * packages have no source maps.
 */
async function removeFormatting(folder) {
  for (const name of readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".d.ts"))) {
    const file = path.join(folder, name);
    const text = readFileSync(file, "utf8");
    const shown = text.replaceAll(/^ +/gm, "").replaceAll(hiddenComments, "");
    writeFileSync(file, shown.replaceAll(/\{\n([^{}\n]+);\n\}/g, "{ $1 }"));
  }
  const scripts = readdirSync(folder, { recursive: true }).filter(
    (name) => /\.[cm]?js$/.test(name) && !isMinified(name),
  );
  await Promise.all(
    scripts.map(async (name) => {
      const file = path.join(folder, name);
      const { code } = await minify(readFileSync(file, "utf8"), {
        module: !isCommonJs(name),
        // Variables at the top of a CommonJS module belong to the module, too.
        toplevel: true,
        ecma: 2020,
        // Functions and variables stay where they are, so that stack traces name the functions of the sources.
        compress: {
          keep_fnames: true,
          keep_classnames: true,
          keep_fargs: true,
          inline: 0,
          reduce_funcs: false,
          // The value of a script of the runtime is a function that is not called there.
          expression: /^runtime.*\.cjs$/.test(name),
        },
        mangle: { keep_fnames: true, keep_classnames: true },
        format: { ascii_only: true, max_line_len: 500 },
      });
      writeFileSync(file, code, { mode: statSync(file).mode });
    }),
  );
}

/** The command has the extension of ES modules, and a package.json beside it that says otherwise. */
function isCommonJs(name) {
  return name.endsWith(".cjs") || name.endsWith(path.join("cli", "viceroy.js"));
}

/** These files are minified already. From the parser of arguments, esbuild would drop what tells Node.js its exports. */
function isMinified(name) {
  return path.basename(name) === "commander.cjs" || name.startsWith(`browser${path.sep}`);
}

/** Returns the exports of `native/` that this script needs. */
async function loadNative() {
  // The sources are bundled, because Node.js 20 cannot run TypeScript. The file is in the checkout, where the headers are.
  const file = path.join(root, `dist/build-addon-${process.pid}.mjs`);
  await build({
    absWorkingDir: root,
    stdin: {
      contents: `export { buildAddon } from "./native/build.ts"; export { addonFileName } from "./native/addon-location.ts";
        export { packageOf, prebuiltPlatforms } from "./native/prebuilt-addon.ts";`,
      resolveDir: root,
    },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: file,
    logLevel: "warning",
  });
  try {
    return await import(pathToFileURL(file).href);
  } finally {
    rmSync(file);
  }
}

/** @param platform the operating system and the processor: `linux-arm64` */
async function packAddon({ buildAddon, addonFileName, packageOf }, platform) {
  const compiler = compilerFor(platform);
  if ("why" in compiler) {
    if (process.env.VICEROY_PEERS === "required")
      throw new Error(`cannot pack ${packageOf(platform)}: ${compiler.why}`);
    console.log(`skipped: ${packageOf(platform)} (${compiler.why})`);
    return;
  }
  const folder = path.join(work, platform);
  mkdirSync(folder);
  const file = addonFileName("rdma", platform);
  // Without symbols, the file has a third of its size.
  await buildAddon("rdma", { ...compiler, file: path.join(folder, file), flags: ["-s"] });
  cpSync(path.join(root, "LICENSE"), path.join(folder, "LICENSE"));
  writeManifest(folder, addonManifest(packageOf(platform), platform, file));
  await pack(folder);
}

/** Returns the options of `buildAddon` for a platform, or the reason why no compiler for it is here. */
function compilerFor(platform) {
  const own = `${process.platform}-${process.arch}`;
  if (platform === own) return {};
  if (own !== "linux-x64" || platform !== "linux-arm64") return { why: `it cannot be built on ${own}` };
  const compiler = arm64Compiler();
  if (compiler !== undefined) return { compiler };
  return { why: "its build needs Debian's g++-aarch64-linux-gnu: run `npm run peers`" };
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
