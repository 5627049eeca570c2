/** The programs of a node that are unpacked from Debian's packages, and how they find their libraries. */
import path from "node:path";

export interface DebianPrograms {
  /** The folder below which `usr` is. */
  readonly folder: string;
  /** The variables with which they find each other and their libraries. */
  readonly env: NodeJS.ProcessEnv;
}

/** @param folder the folder into which `.ci/kubernetes/cluster-programs.mjs` has unpacked them */
export function debianPrograms(folder: string): DebianPrograms {
  const libraries = ["lib", "usr/lib"].map((name) =>
    path.join(folder, name, `${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu`),
  );
  const programs = ["usr/bin", "usr/sbin", "sbin", "bin"].map((name) => path.join(folder, name));
  const env = {
    ...process.env,
    PATH: [...programs, process.env["PATH"]].join(":"),
    LD_LIBRARY_PATH: libraries.join(":"),
  };
  return { folder, env };
}
