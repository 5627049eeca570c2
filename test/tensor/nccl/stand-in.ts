/**
 * What tests have in the place of NCCL (stand_in.cc), built by g++, which they need as the addon does. No test of it says anything about graphics
 * processors: it shows how NCCL is found, called, waited for and given up.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const source = fileURLToPath(new URL("stand_in.cc", import.meta.url));

/** What one can lack: to take memory of processors, as NCCL does; to make communicators without waiting; a function that is needed. */
export type Lack = "NO_HOST_MEMORY" | "NO_CONFIG" | "NO_SEND";

/** @returns its file; built once for each source */
export function standIn(...lacks: readonly Lack[]): string {
  const key = createHash("sha256").update(readFileSync(source)).update(lacks.join(" ")).digest("hex").slice(0, 16);
  const folder = path.join(tmpdir(), `viceroy-test-nccl-${process.getuid?.()}`);
  const file = path.join(folder, `stand-in-${key}.so`);
  if (existsSync(file)) return file;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const built = `${file}.${process.pid}`;
  const flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-pthread"];
  try {
    execFileSync(process.env["CXX"] || "g++", [...flags, ...lacks.map((lack) => `-D${lack}`), source, "-o", built]);
    renameSync(built, file);
  } finally {
    rmSync(built, { force: true });
  }
  return file;
}
