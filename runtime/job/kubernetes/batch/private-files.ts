/** The private files of a run that the pod of its command needs to sign for hosts and to be a driver. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { credentialsName } from "../../credentials/credentials-folder.js";

/** The file with the token of the hosts, if they have no certificates. */
export const tokenName = "token";

/** Returns the contents by their paths in the folder of the run. Keys of drivers and controllers stay here: each has its own. */
export function privateFiles(folder: string): Record<string, string> {
  const files: Record<string, string> = {};
  const add = (name: string): void => {
    if (existsSync(join(folder, name))) files[name] = readFileSync(join(folder, name), "utf8");
  };
  add(tokenName);
  const credentials = join(folder, credentialsName);
  for (const entry of existsSync(credentials) ? readdirSync(credentials, { withFileTypes: true }) : []) {
    const name = join(credentialsName, entry.name);
    if (entry.isFile()) add(name);
    else if (!/^(?:driver|controller-.*)$/.test(entry.name)) {
      for (const file of readdirSync(join(folder, name))) add(join(name, file));
    }
  }
  return files;
}
