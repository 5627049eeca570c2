/**
 * Finds the API server of SkyPilot, and the credentials for it, as SkyPilot's own client finds them: in the environment,
 * in the configuration of the project (`.sky.yaml`), and in that of the user (`~/.sky/config.yaml`).
 */
import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { errorMessage } from "../../../../shared/text/error-message.js";
import { cookieHeader } from "./cookies.js";
import { isObject } from "./plain-json.js";
import type { Asker } from "./skypilot-error.js";

/** The program finds the API server by these. Tests give their own. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The home of the user. */
  readonly home: string;
  /** The working directory. */
  readonly cwd: string;
  /** The time in ms since 1970. */
  readonly now: number;
}

/** Requests reach the API server by this URL, with these headers. */
export interface ApiAccess extends Asker {
  /** The URL of the server, without a slash at its end and without a password. */
  readonly server: string;
  /** The headers that prove who asks. */
  readonly headers: Readonly<Record<string, string>>;
  /** The id by which SkyPilot knows the user of this machine; undefined if the user has never used SkyPilot here. */
  readonly userId: string | undefined;
}

/** The port of an API server that `sky api start` has started. */
const defaultPort = 46_580;

/** Maximum size of a file that is read, in bytes. */
const maxFile = 1 << 20;

interface Configuration {
  /** The settings of the API server. */
  readonly apiServer: Readonly<Record<string, unknown>>;
  readonly file: string;
}

/**
 * Finds the API server.
 * @param endpoint its URL, if the program names it; the environment and the files count otherwise
 * @throws Error if a file cannot be read, or what is found is not a URL or a token
 */
export async function findAccess(endpoint: string | undefined, surroundings: Surroundings): Promise<ApiAccess> {
  const { env, home, now } = surroundings;
  const configurations = await readConfigurations(surroundings);
  const found = endpointOf(endpoint, env, configurations);
  const { server, basic } = checkEndpoint(found.value, found.source);
  const userId = userIdOf(surroundings);
  const token = tokenOf(env, configurations);
  if (token !== undefined) {
    const headers = { authorization: `Bearer ${token.value}` };
    return { server, headers, credentials: `the token of ${token.source}`, userId };
  }
  if (basic !== undefined) {
    const headers = { authorization: `Basic ${Buffer.from(basic).toString("base64")}` };
    return { server, headers, credentials: `the password in ${found.source}`, userId };
  }
  const file = pathOf(env["SKYPILOT_API_COOKIE_FILE"] ?? "~/.sky/cookies.txt", home);
  const cookie = cookieHeader(readOptional(file) ?? "", new URL(server), now);
  if (cookie === undefined) return { server, headers: {}, credentials: undefined, userId };
  return { server, headers: { cookie }, credentials: `the cookies of ${file}`, userId };
}

interface Found {
  readonly value: string;
  /** The variable or the file that has it, for errors. */
  readonly source: string;
}

function endpointOf(
  given: string | undefined,
  env: Surroundings["env"],
  configurations: readonly Configuration[],
): Found {
  if (given !== undefined) return { value: given, source: "the option endpoint" };
  const variable = "SKYPILOT_API_SERVER_ENDPOINT";
  if (env[variable] !== undefined) return { value: env[variable], source: variable };
  const configured = settingOf(configurations, "endpoint");
  if (configured !== undefined) return configured;
  const port = env["SKYPILOT_API_SERVER_LOCAL_PORT"] ?? String(defaultPort);
  return { value: `http://127.0.0.1:${port}`, source: "SKYPILOT_API_SERVER_LOCAL_PORT" };
}

function tokenOf(env: Surroundings["env"], configurations: readonly Configuration[]): Found | undefined {
  const variable = "SKYPILOT_SERVICE_ACCOUNT_TOKEN";
  const value = env[variable];
  const found = value ? { value, source: variable } : settingOf(configurations, "service_account_token");
  if (found === undefined || found.value === "") return undefined;
  // A header cannot contain line breaks, which a token that was copied can have.
  if (/^sky_[\x21-\x7e]+$/.test(found.value)) return found;
  throw new Error(
    `cannot use the token of ${found.source}: a token of a service account of SkyPilot begins with "sky_" and has no spaces`,
  );
}

/** Returns a setting of the API server: that of the project, or that of the user. */
function settingOf(configurations: readonly Configuration[], name: string): Found | undefined {
  for (const { apiServer, file } of configurations) {
    const value = apiServer[name];
    if (value === undefined || value === null) continue;
    if (typeof value === "string") return { value, source: `api_server.${name} in ${file}` };
    throw new Error(`cannot use api_server.${name} in ${file}: expected text, got ${typeof value}`);
  }
  return undefined;
}

function checkEndpoint(value: string, source: string): { readonly server: string; readonly basic?: string } {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    const expected = `expected a URL such as http://127.0.0.1:${defaultPort}`;
    throw new Error(
      `cannot use ${source} as the API server of SkyPilot: ${expected}, got ${JSON.stringify(withoutPassword(value, url))}`,
    );
  }
  const server = `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, "")}`;
  if (url.username === "") return { server };
  return { server, basic: `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}` };
}

function withoutPassword(value: string, url: URL | undefined): string {
  if (url === undefined || url.password === "") return value;
  const shown = new URL(url);
  shown.password = "***";
  return shown.href;
}

/** Reads the configurations, that of the project first, which overrides that of the user. */
async function readConfigurations({ env, home, cwd }: Surroundings): Promise<Configuration[]> {
  const files = [
    { variable: "SKYPILOT_PROJECT_CONFIG", standard: join(cwd, ".sky.yaml") },
    { variable: "SKYPILOT_GLOBAL_CONFIG", standard: join(home, ".sky/config.yaml") },
  ];
  const configurations: Configuration[] = [];
  for (const { variable, standard } of files) {
    const named = env[variable];
    const file = named === undefined ? standard : pathOf(named, home, cwd);
    const text = readOptional(file);
    if (text !== undefined) configurations.push(await parseConfiguration(text, file));
    else if (named !== undefined) {
      throw new Error(`cannot find the API server of SkyPilot: ${file}, which ${variable} names, does not exist`);
    }
  }
  return configurations;
}

async function parseConfiguration(text: string, file: string): Promise<Configuration> {
  // Most users have no such file, and load no reader of YAML.
  const { parseDocument } = await import("../../yaml-text.js");
  const document = parseDocument(text);
  if (document.errors.length > 0) {
    throw new Error(`cannot read the configuration of SkyPilot ${file}: ${document.errors[0]!.message}`);
  }
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  const apiServer = isObject(value) ? value["api_server"] : undefined;
  return { apiServer: isObject(apiServer) ? apiServer : {}, file };
}

/** Returns the id that SkyPilot has given the user of this machine, so that `sky status` lists what the program has launched. */
function userIdOf({ env, home }: Surroundings): string | undefined {
  const id = env["SKYPILOT_USER_ID"] ?? readOptional(join(home, ".sky/user_hash"))?.trim();
  return id !== undefined && /^[0-9a-f]{1,64}$/.test(id) ? id : undefined;
}

function pathOf(path: string, home: string, cwd = home): string {
  if (path === "~" || path.startsWith("~/")) return join(home, path.slice(1));
  return path.startsWith("/") ? path : join(cwd, path);
}

/** Reads a file; undefined if there is none. @throws Error if it cannot be read, or is too large */
function readOptional(file: string): string | undefined {
  const bytes = Buffer.alloc(maxFile + 1);
  let length = 0;
  try {
    const opened = openSync(file, "r");
    try {
      for (let read = 1; read > 0 && length < bytes.length; length += read) {
        read = readSync(opened, bytes, length, bytes.length - length, null);
      }
    } finally {
      closeSync(opened);
    }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Error(`cannot read ${file} of SkyPilot: ${errorMessage(cause)}`, { cause });
  }
  if (length <= maxFile) return bytes.toString("utf8", 0, length);
  throw new Error(`cannot read ${file} of SkyPilot: it has more than ${maxFile} bytes`);
}
