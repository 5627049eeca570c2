/** The name under which a driver appears in the logs of hosts. */
import { hostname, userInfo } from "node:os";

/** @param pid the process of the driver */
export function driverName(pid: number): string {
  return `process ${pid} of ${userName()} on ${hostname()}`;
}

/** Containers often run as a user that has no name. */
function userName(): string {
  try {
    return `user ${userInfo().username}`;
  } catch {
    return `user ${process.getuid?.() ?? "unknown"}`;
  }
}
