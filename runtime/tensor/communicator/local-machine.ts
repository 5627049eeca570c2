/** Which processes can share memory, and where those of other machines reach this one. Processes that run tensors ask, and nobody else. */
import { readFileSync, readlinkSync } from "node:fs";
import { networkInterfaces } from "node:os";

/** How this process exchanges elements with others: `tcp`, by the network with all of them. */
const transportVariable = "VICEROY_TENSOR_LINES";
/** The address at which other machines reach this one. */
const addressVariable = "VICEROY_TENSOR_ADDRESS";

/** The same text for processes that can open each other's memory: of one machine, one user, and one table of processes. */
export function sharedMemoryScope(): string {
  const lines = process.env[transportVariable] ?? "";
  if (lines !== "" && lines !== "tcp") {
    throw new Error(`cannot exchange tensors: ${transportVariable} must be "tcp" or not set, got "${lines}"`);
  }
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  const own = `${boot} ${readlinkSync("/proc/self/ns/pid")} ${process.geteuid?.()}`;
  return lines === "tcp" ? `${own} ${process.pid}` : own;
}

/** Of the first network that is not of this machine alone, unless the environment names one. */
export function ownAddress(): string {
  const given = process.env[addressVariable];
  if (given) return given;
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ internal, family }) => !internal && family === "IPv4")?.address ?? "127.0.0.1";
}
