/** Finds out which processes can share memory, and at which address other machines reach this process. */
import { readFileSync, readlinkSync } from "node:fs";
import { networkInterfaces } from "node:os";

/** The variable that selects the transport of elements. With `tcp`, the process uses the network for all exchanges. */
const transportVariable = "VICEROY_TENSOR_LINES";
/** The variable that sets the address at which other machines reach this one. */
const addressVariable = "VICEROY_TENSOR_ADDRESS";

/** Returns a text that is equal for processes that can share memory: those of one machine, one user and one pid namespace. */
export function sharedMemoryScope(): string {
  const lines = process.env[transportVariable] ?? "";
  if (lines !== "" && lines !== "tcp") {
    throw new Error(`cannot exchange tensors: ${transportVariable} must be "tcp" or not set, got "${lines}"`);
  }
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  const own = `${boot} ${readlinkSync("/proc/self/ns/pid")} ${process.geteuid?.()}`;
  return lines === "tcp" ? `${own} ${process.pid}` : own;
}

/** Returns the address in the environment. Default: that of the first network interface that is not internal. */
export function ownAddress(): string {
  const given = process.env[addressVariable];
  if (given) return given;
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ internal, family }) => !internal && family === "IPv4")?.address ?? "127.0.0.1";
}
