/** The manifests of the packages beside `viceroy`. All packages have one version, and are used together only. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const { version, license, engines, devDependencies } = JSON.parse(
  readFileSync(path.join(root, "package.json"), "utf8"),
);

/** The packages that the compiler imports. */
const compilerDependencies = ["ts-morph"];

/** The compiler of schemas, which development and CI install. */
export const compilerManifest = {
  name: "@viceroy/compiler",
  version,
  description: "The compiler of Viceroy's schemas. The command `viceroy` of the package viceroy runs it.",
  license,
  type: "module",
  engines,
  files: ["dist", "!dist/**/*.map", "inline", "shared/vocabulary.ts", "docs", "LICENSE"],
  exports: { "./inline": "./inline/runtime.js", "./package.json": "./package.json" },
  dependencies: Object.fromEntries(compilerDependencies.map((name) => [name, devDependencies[name]])),
  peerDependencies: { viceroy: version },
};

/**
 * The addon `rdma` for one platform, which production installs if the platform fits.
 * @param platform the operating system and the processor, such as `linux-x64`
 * @param file the name of the addon's file
 */
export function addonManifest(name, platform, file) {
  const [os, cpu] = platform.split("-");
  return {
    name,
    version,
    description: "Links through shared memory, and one-sided memory access, for Viceroy.",
    license,
    engines,
    os: [os],
    cpu: [cpu],
    libc: ["glibc"],
    files: [file, "LICENSE"],
  };
}
