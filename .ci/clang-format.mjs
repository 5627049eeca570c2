/**
 * Checks the format of the C++ sources in native/ with clang-format: `node .ci/clang-format.mjs`. With `--write`, formats them. The rules are
 * in `.clang-format`. Versions of clang-format format differently, so this script uses one version, which pip installs from PyPI into
 * `.peers/clang-format/`. Plain Node.js without any package.
 */
import { existsSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { output } from "./debian.mjs";
import { root, run } from "./steps.mjs";

const version = "19.1.7";
const folder = path.join(root, ".peers/clang-format", version);
const program = path.join(folder, "clang_format/data/bin/clang-format");

/** Installs clang-format unless it is installed. @returns the reason of a failure, or undefined */
function install() {
  if (existsSync(program)) return undefined;
  const options = ["--quiet", "--no-deps", "--disable-pip-version-check", "--only-binary=:all:"];
  const target = `--target=${folder}`;
  const { code, text } = output("python3", ["-m", "pip", "install", ...options, target, `clang-format==${version}`]);
  if (code === 0 && existsSync(program)) return undefined;
  rmSync(folder, { recursive: true, force: true });
  return text.trimEnd().split("\n").at(-1) || "pip printed no message";
}

function sources() {
  const native = path.join(root, "native");
  return readdirSync(native, { recursive: true })
    .filter((file) => [".cc", ".h"].includes(path.extname(file)))
    .map((file) => path.join("native", file))
    .sort();
}

const why = install();
if (why !== undefined) {
  console.error(`cannot install clang-format ${version} from PyPI by python3 -m pip: ${why}`);
  process.exit(1);
}
const write = process.argv.includes("--write");
process.exitCode = await run(program, ["--style=file", ...(write ? ["-i"] : ["--dry-run", "--Werror"]), ...sources()]);
if (process.exitCode !== 0 && !write) console.error("Run `node .ci/clang-format.mjs --write` to format the sources.");
