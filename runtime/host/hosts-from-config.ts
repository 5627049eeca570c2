/**
 * `hostsFromConfig`: attaches hosts by a name that the deployment defines, so that a program does not contain the
 * addresses of machines. The file `viceroy.hosts.json` contains them:
 *
 *     { "trainers": ["tcp://n1", "tcp://n2"],
 *       "loaders": { "addresses": ["tls://n3"], "tls": { "cert": "driver.pem", "key": "driver.key", "ca": "ca.pem" } } }
 */

import { existsSync, readFileSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { describeValue } from "../../shared/text/describe-value.js";
import { parseToken } from "../link/handshake/proof.js";
import type { TlsFiles } from "../link/transport/tls/credentials.js";
import { type AttachOptions, attachHosts } from "./attach-hosts.js";
import type { HostMesh } from "./mesh/host-mesh.js";

const fileName = "viceroy.hosts.json";

type HostEntry = Readonly<Record<string, unknown>>;

/** Readers of the options that an entry may have beside `addresses`. The program sets `dimension` and `name`. */
const optionReaders: Readonly<Record<string, (value: unknown, folder: string) => Partial<AttachOptions<string>>>> = {
  tls: (value, folder) => ({ tls: tlsFilesFrom(value, folder) }),
  tokenFile: (value, folder) => {
    const file = pathFrom(value, "tokenFile", folder);
    return { token: parseToken(readFileSync(file, "utf8"), file) };
  },
  registry: (value, folder) => {
    if (typeof value === "string" && value.startsWith("file:")) return { registry: value };
    return { registry: pathFrom(value, "registry", folder) };
  },
  timeout: (value) => ({ timeout: value as number }),
  silence: (value) => ({ silence: value as number }),
  keepAlive: (value) => ({ keepAlive: value as number }),
  through: (value) => ({ through: value as string | readonly string[] }),
  absence: (value) => ({ absence: value as number }),
  readOnly: (value) => ({ readOnly: value as boolean }),
};

/**
 * Attaches the hosts that the file `viceroy.hosts.json` lists under a name. The file is looked for in the working
 * directory and in the folders above it; the environment variable `VICEROY_HOSTS` names another file. Paths in the file
 * are relative to the file.
 *
 * @param name the name of an entry of the file; it is also the name of the mesh in reports
 * @param options the options of {@link attachHosts}; they take precedence over the file
 * @returns a mesh with one dimension
 * @throws {Error} when the file or the entry does not exist, or cannot be used
 * @throws {TypeError} when an address or an option is malformed
 * @throws {RangeError} when a number is out of range
 */
export function hostsFromConfig<D extends string = "hosts">(name: string, options: AttachOptions<D> = {}): HostMesh<D> {
  if (typeof name !== "string" || name === "") {
    throw new TypeError(
      `cannot attach hosts: expected the name of an entry of ${fileName}, got ${describeValue(name)}`,
    );
  }
  const file = findFile(name);
  const entry = readHostEntry(file, name);
  try {
    const { addresses, ...rest } = entry;
    const said = Object.entries(rest).map(([key, value]) => {
      const reader = Object.hasOwn(optionReaders, key) ? optionReaders[key] : undefined;
      if (reader === undefined) {
        const known = ["addresses", ...Object.keys(optionReaders)].join(", ");
        throw new TypeError(`expected some of ${known}, got ${describeValue(key)}`);
      }
      return reader(value, dirname(file));
    });
    return attachHosts<D>(addresses as readonly string[], Object.assign({ name }, ...said, options));
  } catch (error) {
    // The mistake may also be in the program's options, so the error names the entry and the file in addition.
    (error as Error).message += ` (hosts ${describeValue(name)} of ${file})`;
    throw error;
  }
}

function findFile(name: string): string {
  const named = process.env["VICEROY_HOSTS"];
  if (named !== undefined && named !== "") return resolve(named);
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    const file = join(folder, fileName);
    if (existsSync(file)) return file;
    if (folder === dirname(folder)) break;
  }
  throw new Error(
    `cannot attach hosts ${describeValue(name)}: there is no ${fileName} in ${process.cwd()} or above it. Write one, such as ` +
      `{ ${JSON.stringify(name)}: ["tcp://host:26600"] }, or name another file by VICEROY_HOSTS`,
  );
}

function readHostEntry(file: string, name: string): HostEntry {
  const refuse = (why: string) => new Error(`cannot attach hosts ${describeValue(name)}: ${why}`);
  let config: unknown;
  try {
    config = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw refuse(`${file} cannot be read: ${(error as Error).message}`);
  }
  if (!isObject(config)) throw refuse(`${file} must have an object, got ${describeValue(config)}`);
  if (!Object.hasOwn(config, name)) {
    const names = Object.keys(config).map((known) => describeValue(known));
    throw refuse(`${file} has ${names.length === 0 ? "no hosts" : `${names.join(", ")} alone`}`);
  }
  const entry = config[name];
  if (Array.isArray(entry)) return { addresses: entry };
  if (!isObject(entry))
    throw refuse(`${file} must have a list of addresses there, or an object, got ${describeValue(entry)}`);
  return entry;
}

function isObject(value: unknown): value is HostEntry {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function tlsFilesFrom(value: unknown, folder: string): TlsFiles {
  if (!isObject(value)) throw new TypeError(`expected tls with cert, key and ca, got ${describeValue(value)}`);
  const file = (of: "cert" | "key" | "ca") => pathFrom(value[of], `tls.${of}`, folder);
  return { cert: file("cert"), key: file("key"), ca: file("ca") };
}

function pathFrom(value: unknown, of: string, folder: string): string {
  if (typeof value !== "string" || value === "")
    throw new TypeError(`expected a file as ${of}, got ${describeValue(value)}`);
  return isAbsolute(value) ? value : join(folder, value);
}
