/** Finds out whether the network of this machine leads to an address. */
import { connectTcp } from "../../link/transport/tcp/connect.js";

/** Time in ms for the network to reach the address. */
const connectMs = 3000;

/** The errors of networks that do not lead to a machine, and of names that this machine does not know. A machine that refuses a connection is reached. */
const unreachableCodes = new Set([
  "EACCES",
  "EADDRNOTAVAIL",
  "EAI_AGAIN",
  "EAI_FAIL",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPERM",
  "ETIMEDOUT",
]);

/** Resolves with whether the machine at an address accepts a connection, or refuses it, within 3 s. Never rejects. */
export async function canConnect(host: string, port: number): Promise<boolean> {
  const late = AbortSignal.timeout(connectMs);
  try {
    (await connectTcp({ kind: "tcp", host, port }, late)).destroy();
    return true;
  } catch (error) {
    return !late.aborted && !unreachableCodes.has(String((error as NodeJS.ErrnoException).code));
  }
}
