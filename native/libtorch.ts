/** Finds libtorch, which the addon for tensors is compiled against. It is searched for when the addon is built, and never when it is used. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

export interface Libtorch {
  /** The setting that led to the folder: `$VICEROY_LIBTORCH`, `$LIBTORCH`, `$VIRTUAL_ENV`, `./.venv`, `./venv`, `the system` or `python3`. */
  readonly source: string;
  /** The folders of the headers. */
  readonly includeFolders: readonly string[];
  /** The folder of the shared libraries. */
  readonly libraryFolder: string;
  /** The version as a number: 113 for 1.13, 206 for 2.6. */
  readonly version: number;
  /** The folder of Gloo's library, if Gloo is installed next to libtorch. Processes of several machines exchange tensors through Gloo. */
  readonly glooLibraryFolder: string | undefined;
  /** Whether the library uses the C++11 ABI for strings. Debian's libraries do; wheels from PyPI do since 2.6. */
  readonly hasCxx11Strings: boolean;
}

/** The versions with which all tests of tensors pass: the version of Debian 12, and those from PyPI (.ci/wheels.mjs). */
export const testedVersions: readonly number[] = [113, 206, 214, 215];
/** The tested versions as text: `1.13, 2.6`. */
export const testedTexts = testedVersions.map(versionText).join(", ");
/** The oldest version that the addon supports. */
const oldestVersion = testedVersions[0]!;
/** The first version whose headers need C++20. */
const firstCpp20Version = 212;

/**
 * @param env the environment variables: VICEROY_LIBTORCH or LIBTORCH can name a folder with `include` and `lib`, and VIRTUAL_ENV a virtual
 * environment of Python
 * @param folder the folder in which `.venv` or `venv` can be a virtual environment
 * @throws Error that lists the folders that were searched, and explains how to install libtorch
 */
export function findLibtorch(env: NodeJS.ProcessEnv = process.env, folder = process.cwd()): Libtorch {
  const looked: string[] = [];
  for (const [source, includes, libraries] of candidateFolders(env, folder)) {
    const found = probeFolder(source, includes, libraries);
    if (typeof found !== "string") {
      if (found.version >= oldestVersion) return found;
      looked.push(
        `${source}: ${libraries} has libtorch ${versionText(found.version)}, which is older than ${versionText(oldestVersion)}`,
      );
    } else looked.push(`${source}: ${found}`);
    // A folder that the user has named is the only candidate.
    if (source.endsWith("LIBTORCH")) break;
  }
  throw new Error(
    `cannot find libtorch, which the addon for tensors is built against:\n${looked.map((line) => `  ${line}`).join("\n")}\n` +
      "Install it (packages libtorch-dev and libopenblas0-openmp of Debian, or torch of PyPI in ./.venv), or name its folder, with " +
      "include/ and lib/ in it, by VICEROY_LIBTORCH",
  );
}

/** Returns `libtorch 2.15 of ./.venv, in <folder>`, with a note if the version is not a tested one. */
export function describeLibtorch({ source, libraryFolder, version }: Libtorch): string {
  const tested = testedVersions.includes(version) ? "" : `; Viceroy is tested with ${testedTexts}`;
  return `libtorch ${versionText(version)} of ${source}, in ${libraryFolder}${tested}`;
}

/** Returns the arguments of g++ that compile and link against libtorch. */
export function libtorchFlags(torch: Libtorch): {
  readonly compile: readonly string[];
  readonly link: readonly string[];
} {
  return {
    compile: [
      `-std=c++${torch.version >= firstCpp20Version ? 20 : 17}`,
      ...torch.includeFolders.map((folder) => `-isystem${folder}`),
      `-D_GLIBCXX_USE_CXX11_ABI=${torch.hasCxx11Strings ? 1 : 0}`,
      ...(torch.glooLibraryFolder === undefined ? [] : ["-DVICEROY_GLOO"]),
    ],
    // With `-z now`, missing symbols are reported when the addon is loaded, and not when they are first used.
    link: [
      `-L${torch.libraryFolder}`,
      `-Wl,-rpath,${torch.libraryFolder}`,
      "-Wl,-z,now",
      "-l:libtorch_cpu.so",
      "-l:libc10.so",
      ...(torch.glooLibraryFolder === undefined ? [] : [`-L${torch.glooLibraryFolder}`, "-l:libgloo.so"]),
    ],
  };
}

/** Yields candidates as source, folder of headers and folder of libraries, in the order of preference. */
function* candidateFolders(env: NodeJS.ProcessEnv, folder: string): Generator<readonly [string, string, string]> {
  for (const name of ["VICEROY_LIBTORCH", "LIBTORCH"]) {
    const named = env[name];
    if (named) yield [`$${name}`, path.join(named, "include"), path.join(named, "lib")];
  }
  // A virtual environment that is active or next to the project was chosen for this project, so it precedes the libraries of the system.
  const environments: [string, string | undefined][] = [
    ["$VIRTUAL_ENV", env["VIRTUAL_ENV"]],
    ["./.venv", path.join(folder, ".venv")],
    ["./venv", path.join(folder, "venv")],
  ];
  for (const [source, environment] of environments) {
    if (!environment) continue;
    const torch = torchModuleIn(environment);
    if (torch !== undefined) yield [source, path.join(torch, "include"), path.join(torch, "lib")];
  }
  const triplet = process.arch === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
  yield ["the system", "/usr/include", `/usr/lib/${triplet}`];
  const python = pythonFolder();
  yield ["python3", path.join(python, "include"), path.join(python, "lib")];
}

/** Returns the folder of the module `torch` in a virtual environment of Python, without running Python. */
function torchModuleIn(environment: string): string | undefined {
  const base = path.join(environment, "lib");
  const versions = existsSync(base) ? readdirSync(base).filter((name) => name.startsWith("python")) : [];
  return versions.map((name) => path.join(base, name, "site-packages/torch")).find((torch) => existsSync(torch));
}

/** Returns the folder of the module `torch` of python3, or a path that does not exist if there is no such module. */
function pythonFolder(): string {
  const program =
    "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')";
  try {
    const output = execFileSync("python3", ["-c", program], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return output.trim() || "/no module torch";
  } catch {
    return "/no python3";
  }
}

/** @returns the library, or the reason why the folders do not contain one */
function probeFolder(source: string, include: string, libraryFolder: string): Libtorch | string {
  const header = path.join(include, "torch/csrc/api/include/torch/version.h");
  if (!existsSync(header)) return `there is no ${header}`;
  const core = path.join(libraryFolder, "libc10.so");
  if (!existsSync(core) || !existsSync(path.join(libraryFolder, "libtorch_cpu.so"))) {
    return `there is no libtorch_cpu.so with libc10.so in ${libraryFolder}`;
  }
  const version = versionIn([header, path.join(include, "torch/headeronly/version.h")]);
  if (version === undefined) return `${header} does not say its version`;
  return {
    source,
    // The compiler searches /usr/include anyway. Naming it would change the order in which the compiler searches its own headers.
    includeFolders: [include, path.dirname(path.dirname(header))].filter((folder) => folder !== "/usr/include"),
    libraryFolder,
    version,
    glooLibraryFolder: glooFolder(include, libraryFolder),
    hasCxx11Strings: readFileSync(core).includes("_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx11"),
  };
}

/** Returns the folder of Gloo's library. Gloo must come from the same source as libtorch, which contains parts of Gloo itself. */
function glooFolder(include: string, libraries: string): string | undefined {
  if (!existsSync(path.join(include, "gloo/transport/tcp/device.h"))) return undefined;
  return [libraries, path.dirname(libraries)].find((folder) => existsSync(path.join(folder, "libgloo.so")));
}

function versionIn(headers: readonly string[]): number | undefined {
  const all = headers
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
  const [, major] = /TORCH_VERSION_MAJOR\s+(\d+)/.exec(all) ?? [];
  const [, minor] = /TORCH_VERSION_MINOR\s+(\d+)/.exec(all) ?? [];
  return major === undefined || minor === undefined ? undefined : Number(major) * 100 + Number(minor);
}

function versionText(version: number): string {
  return `${Math.floor(version / 100)}.${version % 100}`;
}
