/** Reads the TCP connections of processes from /proc. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Returns the rows of the kernel's tables of TCP sockets that belong to a process. */
export function tcpSocketsOf(pid: number): string[][] {
  const own = new Set(socketInodesOf(pid));
  const rows = ["tcp", "tcp6"].flatMap((name) =>
    readFileSync(`/proc/${pid}/net/${name}`, "utf8")
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => line.trim().split(/\s+/)),
  );
  return rows.filter((row) => own.has(row[9]!));
}

/** Returns whether there is a TCP connection between two processes. */
export function areConnected(one: number, other: number): boolean {
  const ends = new Set(tcpSocketsOf(other).map(([, local, remote]) => `${local} ${remote}`));
  return tcpSocketsOf(one).some(([, local, remote]) => ends.has(`${remote} ${local}`));
}

/** Returns the inodes of the sockets of a process. */
function socketInodesOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
    } catch {
      return [];
    }
  });
}

/** Returns the TCP ports at which a process listens. */
export function listeningPortsOf(pid: number): number[] {
  const listening = tcpSocketsOf(pid).filter(([, , , state]) => state === "0A");
  return listening.map(([, local]) => Number.parseInt(local!.split(":")[1]!, 16));
}
