/** Where libtorch is: what the addon for tensors is compiled against. Looked for when that is built, and never when it is used. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

export interface Libtorch {
  /** Who said where: `$VICEROY_LIBTORCH`, `the system`, `python3`. */
  readonly source: string;
  /** Folders of headers. */
  readonly includes: readonly string[];
  /** The folder of its shared libraries. */
  readonly libraries: string;
  /** As 113 for 1.13, 206 for 2.6. */
  readonly version: number;
  /** The folder of Gloo's library, if it is beside it: processes of several machines exchange tensors by it. */
  readonly gloo: string | undefined;
  /** Whether its strings are those of C++11, as in all of Debian; wheels for Python had others until 2.5. */
  readonly newStrings: boolean;
}

/** The oldest that the addon is written for. */
const oldest = 113;
/** From here on its headers want C++20. */
const cpp20 = 212;

/**
 * @param env where VICEROY_LIBTORCH and LIBTORCH may name its folder, with `include` and `lib` in it
 * @throws Error that says where it was looked for, and how to get it
 */
export function findLibtorch(env: NodeJS.ProcessEnv = process.env): Libtorch {
  const looked: string[] = [];
  for (const [source, includes, libraries] of places(env)) {
    const found = probe(source, includes, libraries);
    if (typeof found !== "string") {
      if (found.version >= oldest) return found;
      looked.push(`${source}: ${libraries} has libtorch ${text(found.version)}, which is older than ${text(oldest)}`);
    } else looked.push(`${source}: ${found}`);
    // Who names a folder means that one.
    if (source.startsWith("$")) break;
  }
  throw new Error(
    `cannot find libtorch, which the addon for tensors is built against:\n${looked.map((line) => `  ${line}`).join("\n")}\n` +
      "Install it (packages libtorch-dev and libopenblas0-openmp of Debian, or torch of PyPI), or name its folder, with " +
      "include/ and lib/ in it, by VICEROY_LIBTORCH",
  );
}

/** What g++ needs to know of it. */
export function libtorchFlags(torch: Libtorch): {
  readonly compile: readonly string[];
  readonly link: readonly string[];
} {
  return {
    compile: [
      `-std=c++${torch.version >= cpp20 ? 20 : 17}`,
      ...torch.includes.map((folder) => `-isystem${folder}`),
      `-D_GLIBCXX_USE_CXX11_ABI=${torch.newStrings ? 1 : 0}`,
      ...(torch.gloo === undefined ? [] : ["-DVICEROY_GLOO"]),
    ],
    // Whatever is missing in it is said when it is loaded, and not in the middle of work.
    link: [
      `-L${torch.libraries}`,
      `-Wl,-rpath,${torch.libraries}`,
      "-Wl,-z,now",
      "-l:libtorch_cpu.so",
      "-l:libc10.so",
      ...(torch.gloo === undefined ? [] : [`-L${torch.gloo}`, "-l:libgloo.so"]),
    ],
  };
}

/** Each as its source, its folder of headers, its folder of libraries. */
function* places(env: NodeJS.ProcessEnv): Generator<readonly [string, string, string]> {
  for (const name of ["VICEROY_LIBTORCH", "LIBTORCH"]) {
    const folder = env[name];
    if (folder) yield [`$${name}`, path.join(folder, "include"), path.join(folder, "lib")];
  }
  const triplet = process.arch === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
  yield ["the system", "/usr/include", `/usr/lib/${triplet}`];
  const python = pythonFolder();
  yield ["python3", path.join(python, "include"), path.join(python, "lib")];
}

/** The folder of its module `torch`; one that does not exist if there is none. */
function pythonFolder(): string {
  const program =
    "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')";
  try {
    const said = execFileSync("python3", ["-c", program], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return said.trim() || "/no module torch";
  } catch {
    return "/no python3";
  }
}

/** @returns why it isn't there, as text */
function probe(source: string, include: string, libraries: string): Libtorch | string {
  const header = path.join(include, "torch/csrc/api/include/torch/version.h");
  if (!existsSync(header)) return `there is no ${header}`;
  const core = path.join(libraries, "libc10.so");
  if (!existsSync(core) || !existsSync(path.join(libraries, "libtorch_cpu.so"))) {
    return `there is no libtorch_cpu.so with libc10.so in ${libraries}`;
  }
  const version = versionIn([header, path.join(include, "torch/headeronly/version.h")]);
  if (version === undefined) return `${header} does not say its version`;
  return {
    source,
    // The compiler looks there anyway, and must not be told: its own headers come before them.
    includes: [include, path.dirname(path.dirname(header))].filter((folder) => folder !== "/usr/include"),
    libraries,
    version,
    gloo: glooFolder(include, libraries),
    newStrings: readFileSync(core).includes("_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx11"),
  };
}

/** Of the same source as libtorch: that of another one could stand in for what libtorch has of it inside. */
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

function text(version: number): string {
  return `${Math.floor(version / 100)}.${version % 100}`;
}
