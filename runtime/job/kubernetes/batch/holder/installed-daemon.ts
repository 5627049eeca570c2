/** Finds the files of the daemon that the program of the pod has installed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cacheDirectory } from "../../../../cache/private-files.js";
import { type HostOrder, orderName } from "../../host/host-order.js";

/** Returns the folder. */
export function installedDaemon(): string {
  const { archive } = JSON.parse(readFileSync(join(__dirname, orderName), "utf8")) as HostOrder;
  return join(cacheDirectory(), `${archive.version}-${archive.hash.slice(0, 16)}`);
}
