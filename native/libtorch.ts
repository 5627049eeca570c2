/** Finds libtorch, with which the tensor addon is compiled. It is needed to build the addon, not to load it. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

export interface Libtorch {
  /** The origin of the location: `$VICEROY_LIBTORCH`, `$VIRTUAL_ENV`, `./.venv`, `the system`, `python3`. */
  readonly source: string;
  /** The folders of headers. */
  readonly includeFolders: readonly string[];
  /** The folder of the shared libraries. */
  readonly libraryFolder: string;
  /** The version as a number: 113 for 1.13, 206 for 2.6. */
  readonly version: number;
  /**
   * The folder of Gloo's library, if libtorch is installed with it. Processes of several machines exchange tensors with
   * Gloo.
   */
  readonly glooLibraryFolder: string | undefined;
  /** Whether libtorch uses the C++11 ABI of strings. Debian's packages do. PyPI's wheels do since 2.6. */
  readonly hasCxx11Strings: boolean;
}

/** The versions with which all tensor tests pass: those of Debian 12 and of PyPI (.ci/wheels.mjs). */
export const testedVersions: readonly number[] = [113, 206, 214, 215];
/** The tested versions as text: `1.13, 2.6`. */
export const testedTexts = testedVersions.map(versionText).join(", ");
/** The oldest version that the addon supports. */
const oldestVersion = testedVersions[0]!;
/** The first version whose headers need C++20. */
const firstCpp20Version = 212;

/**
 * @param env the environment; VICEROY_LIBTORCH and LIBTORCH can name the folder of libtorch, with `include` and `lib`
 * in it, and VIRTUAL_ENV a Python environment
 * @param folder the folder in which `.venv` or `venv` can be a Python environment
 * @throws Error with the searched places and the instructions to install libtorch
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
    // A folder that the user names explicitly is not replaced by another one.
    if (source.endsWith("LIBTORCH")) break;
  }
  throw new Error(
    `cannot find libtorch, with which the tensor addon is built:\n${looked.map((line) => `  ${line}`).join("\n")}\n` +
      "Install it (packages libtorch-dev and libopenblas0-openmp of Debian, or torch of PyPI in ./.venv), or set VICEROY_LIBTORCH " +
      "to a folder that contains include/ and lib/",
  );
}

/** Returns a description: `libtorch 2.15 of ./.venv, in <folder>`, with a warning about an untested version. */
export function describeLibtorch({ source, libraryFolder, version }: Libtorch): string {
  const tested = testedVersions.includes(version) ? "" : `; Viceroy is tested with ${testedTexts}`;
  return `libtorch ${versionText(version)} of ${source}, in ${libraryFolder}${tested}`;
}

/** Returns the arguments of g++ for libtorch. */
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
    // Missing symbols are reported when the addon is loaded, not during its use.
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

/** Yields the candidates: the origin, the folder of headers and the folder of libraries. */
function* candidateFolders(env: NodeJS.ProcessEnv, folder: string): Generator<readonly [string, string, string]> {
  for (const name of ["VICEROY_LIBTORCH", "LIBTORCH"]) {
    const named = env[name];
    if (named) yield [`$${name}`, path.join(named, "include"), path.join(named, "lib")];
  }
  // An environment that is active or belongs to the project takes precedence over the system's libtorch.
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

/** Returns the folder of the module `torch` in a Python environment, without running Python. */
function torchModuleIn(environment: string): string | undefined {
  const base = path.join(environment, "lib");
  const versions = existsSync(base) ? readdirSync(base).filter((name) => name.startsWith("python")) : [];
  return versions.map((name) => path.join(base, name, "site-packages/torch")).find((torch) => existsSync(torch));
}

/** Returns the folder of the module `torch` of python3, or a folder that does not exist if there is none. */
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

/** @returns libtorch, or the reason why it is not in the folder */
function probeFolder(source: string, include: string, libraryFolder: string): Libtorch | string {
  const header = path.join(include, "torch/csrc/api/include/torch/version.h");
  if (!existsSync(header)) return `there is no ${header}`;
  const core = path.join(libraryFolder, "libc10.so");
  if (!existsSync(core) || !existsSync(path.join(libraryFolder, "libtorch_cpu.so"))) {
    return `there is no libtorch_cpu.so with libc10.so in ${libraryFolder}`;
  }
  const version = versionIn([header, path.join(include, "torch/headeronly/version.h")]);
  if (version === undefined) return `${header} does not contain the version`;
  return {
    source,
    // The compiler searches this folder anyway. As an option, it would precede the compiler's own headers.
    includeFolders: [include, path.dirname(path.dirname(header))].filter((folder) => folder !== "/usr/include"),
    libraryFolder,
    version,
    glooLibraryFolder: glooFolder(include, libraryFolder),
    hasCxx11Strings: readFileSync(core).includes("_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx11"),
  };
}

/**
 * Returns the folder of Gloo from the installation of libtorch. The symbols of another Gloo could replace those inside
 * libtorch.
 */
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
