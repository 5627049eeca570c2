/** Reads kubeconfig files, as `kubectl` reads them: which cluster and which user a context names, and how the user proves who it is. */
import { readFileSync } from "node:fs";
import type { RequestOptions } from "node:https";
import { dirname, resolve } from "node:path";
import { errorMessage } from "../../../../shared/text/error-message.js";

/** One context of a file, with what it names. */
export interface KubeContext {
  readonly name: string;
  /** The name of the user. */
  readonly user: string;
  /** The URL of the API server, without a slash at its end. */
  readonly server: string;
  /**
   * Whether everything that a request needs is in files: the credentials of some users come from a program or from a login service, and some
   * clusters are behind a proxy.
   */
  readonly isStatic: boolean;
  /** Returns the options of a request of a static context. Files are read again each time, because tokens in them expire. @throws Error if a file cannot be read */
  requestOptions(): RequestOptions;
}

type Entry = Readonly<Record<string, unknown>>;

/** The fields with which a request can be made from files alone. */
const staticFields = {
  cluster: [
    "server",
    "certificate-authority",
    "certificate-authority-data",
    "insecure-skip-tls-verify",
    "tls-server-name",
    "extensions",
  ],
  user: [
    "client-certificate",
    "client-certificate-data",
    "client-key",
    "client-key-data",
    "token",
    "tokenFile",
    "username",
    "password",
    "extensions",
  ],
};

/**
 * Reads a context.
 * @param wanted its name; null for the current one
 * @throws Error if the file cannot be read, or has no such context
 */
export async function readKubeContext(file: string, wanted: string | null): Promise<KubeContext> {
  const config = await readConfig(file);
  const name = wanted ?? textOf(config["current-context"]) ?? "";
  const contexts = entriesOf(config, "contexts");
  const context = contexts.get(name)?.["context"];
  if (!isEntry(context)) {
    const has = contexts.size === 0 ? "none" : [...contexts.keys()].map((known) => `"${known}"`).join(", ");
    const which = name === "" ? "no current context" : `no context "${name}"`;
    throw new Error(`cannot use Kubernetes: the kubeconfig file ${file} has ${which}; its contexts: ${has}`);
  }
  const userName = textOf(context["user"]) ?? "";
  const cluster = named(entriesOf(config, "clusters"), context["cluster"], "cluster");
  const user = named(entriesOf(config, "users"), userName, "user");
  const server = textOf(cluster["server"]) ?? "";
  if (!URL.canParse(server)) {
    throw new Error(
      `cannot use Kubernetes: the kubeconfig file ${file} names no API server for context "${name}" that could be reached`,
    );
  }
  const hasOnly = (entry: Entry, fields: readonly string[]) => Object.keys(entry).every((key) => fields.includes(key));
  return {
    name,
    user: userName,
    server: server.replace(/\/$/, ""),
    isStatic: server.startsWith("https:") && hasOnly(cluster, staticFields.cluster) && hasOnly(user, staticFields.user),
    requestOptions: () => optionsOf(cluster, user, dirname(file)),
  };
}

async function readConfig(file: string): Promise<Entry> {
  try {
    const { parseDocument } = await import("../../yaml-text.js");
    const document = parseDocument(readFileSync(file, "utf8"));
    const [error] = document.errors;
    if (error !== undefined) throw error;
    const config: unknown = document.toJS({ maxAliasCount: 100 });
    if (!isEntry(config)) throw new Error("expected an object with clusters, users and contexts");
    return config;
  } catch (cause) {
    throw new Error(`cannot use Kubernetes: cannot read the kubeconfig file ${file}: ${errorMessage(cause)}`, {
      cause,
    });
  }
}

/** Returns the options of a request. Data in the file itself count before other files, and the file of a token before a token. */
function optionsOf(cluster: Entry, user: Entry, folder: string): RequestOptions {
  const content = (entry: Entry, name: string) => {
    const data = textOf(entry[`${name}-data`]);
    if (data !== undefined) return Buffer.from(data, "base64");
    const file = textOf(entry[name]);
    return file === undefined ? undefined : readFileSync(resolve(folder, file));
  };
  const found = {
    ca: content(cluster, "certificate-authority"),
    cert: content(user, "client-certificate"),
    key: content(user, "client-key"),
    servername: textOf(cluster["tls-server-name"]),
    rejectUnauthorized: cluster["insecure-skip-tls-verify"] === true ? false : undefined,
  };
  const authorization = authorizationOf(user, folder);
  return {
    ...Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)),
    ...(authorization === undefined ? {} : { headers: { authorization } }),
  };
}

function authorizationOf(user: Entry, folder: string): string | undefined {
  const file = textOf(user["tokenFile"]);
  const token = file === undefined ? textOf(user["token"]) : readFileSync(resolve(folder, file), "utf8").trim();
  if (token !== undefined) return `Bearer ${token}`;
  const name = textOf(user["username"]);
  if (name === undefined) return undefined;
  return `Basic ${Buffer.from(`${name}:${textOf(user["password"]) ?? ""}`).toString("base64")}`;
}

/** Returns the entries of a list of the file by their names. */
function entriesOf(config: Entry, list: string): Map<string, Entry> {
  const entries = Array.isArray(config[list]) ? (config[list] as unknown[]).filter(isEntry) : [];
  return new Map(entries.map((entry) => [textOf(entry["name"]) ?? "", entry]));
}

/** Returns what an entry has under the name of its kind; empty if there is no such entry. */
function named(entries: ReadonlyMap<string, Entry>, name: unknown, kind: string): Entry {
  const found = entries.get(textOf(name) ?? "")?.[kind];
  return isEntry(found) ? found : {};
}

function isEntry(value: unknown): value is Entry {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
