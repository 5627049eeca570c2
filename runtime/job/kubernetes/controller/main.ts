/** `viceroy controller run`: the program that gives hosts to programs in pods, by rules. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { errorMessage } from "../../../../shared/text/error-message.js";
import type { Authority } from "../../credentials/authority.js";
import { openAccess } from "../api/cluster-access.js";
import { HttpApi } from "../api/http-api.js";
import { checkNamespace } from "../manifest/names.js";
import { controllerNamespace } from "../provision/protocol.js";
import { type ControllerLog, printedLog } from "./controller-log.js";
import { Identification } from "./identify.js";
import { leaseMs } from "./lease.js";
import { openAuthority, publishAuthority, serverCertificate } from "./own-certificate.js";
import type { ControllerPlace } from "./provisioned-job.js";
import { Provisions } from "./provisions.js";
import { parseRules, type Rules } from "./rules/parse-rules.js";
import { makeServer } from "./serve.js";

export { printControllerManifest } from "./manifest.js";

/** The options of the command. */
export interface ControllerOptions {
  /** The file of the rules. */
  readonly rules: string;
  /** The namespace of the controller. */
  readonly namespace?: string;
  /** The address and the port. Port 0: any free one. */
  readonly listen?: string;
  /** The time after which hosts end whose owner gives no sign of life. */
  readonly lease?: string;
  readonly kubeconfig?: string;
}

/** Times in ms between looks at the rules, attempts to restore, and new certificates. */
const rulesMs = 2000;
const againMs = 2000;
const certificateMs = 86_400_000;

/**
 * Runs the controller until it gets SIGTERM or SIGINT. The hosts stay then, until another controller goes on with them.
 * @throws TypeError, Error if an option is malformed, or the cluster cannot be used
 */
export async function runController(options: ControllerOptions, out: (line: string) => void): Promise<void> {
  const { namespace = controllerNamespace, listen = "0.0.0.0:8443", lease = "60s", kubeconfig = null } = options;
  checkNamespace(namespace);
  const [, host, port] = /^(\[[\da-f:]+\]|[\w.-]+):(\d{1,5})$/i.exec(listen) ?? [];
  if (host === undefined)
    throw new TypeError(`cannot run the controller: expected --listen as address:port, got "${listen}"`);
  const leaseTime = leaseMs("run the controller", lease);
  const log = printedLog(out, Date.now);
  const access = await openAccess({ kubeconfig, context: null });
  const apiOf = (name: string) => new HttpApi(access, name);
  const api = apiOf(namespace);
  const folder = mkdtempSync(join(tmpdir(), "viceroy-controller-"));
  const ended = new Promise<void>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
  });
  const authority = await openAuthority(api, join(folder, "authority"));
  const rules = new RulesFile(options.rules, log);
  const epoch = randomBytes(6).toString("hex");
  const place: ControllerPlace = { api, apiOf, kubeconfig, folder, lease: leaseTime, epoch, now: Date.now, log };
  const provisions = new Provisions(place, () => rules.current);
  let isRestored = false;
  const identification = new Identification(
    {
      reviewToken: (token, audience) => api.reviewToken(token, audience),
      pod: (of, name) => apiOf(of).get("Pod", name),
    },
    Date.now,
  );
  const current = () => (isRestored ? provisions : undefined);
  const server = makeServer({ ...serverCertificate(authority), identification, provisions: current, log });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(Number(port), host.replace(/^\[|\]$/g, ""), resolve);
  });
  log("listening", { port: (server.address() as AddressInfo).port, namespace, rules: options.rules });
  const renewing = setInterval(() => server.setSecureContext(serverCertificate(authority)), certificateMs);
  const publishing = publishEverywhere(apiOf, authority, rules, log);
  try {
    const restored = restorePatiently(provisions, log).then(() => {
      isRestored = true;
      log("ready", {});
    });
    await Promise.race([ended, restored.then(() => ended)]);
  } finally {
    clearInterval(renewing);
    publishing.end();
    provisions.close();
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Until it has succeeded, the controller refuses everything: it does not know what is used. */
async function restorePatiently(provisions: Provisions, log: ControllerLog): Promise<void> {
  for (;;) {
    try {
      return await provisions.restore();
    } catch (error) {
      log("failed", { what: "restore", reason: errorMessage(error) });
      await pause(againMs);
    }
  }
}

/** The file of the rules, which is read again for each request, so that a change of the ConfigMap counts at once. */
class RulesFile {
  readonly #file: string;
  readonly #log: ControllerLog;
  #text: string | undefined;
  #rules: Rules = { fault: "it was not read yet" };

  constructor(file: string, log: ControllerLog) {
    this.#file = file;
    this.#log = log;
  }

  get current(): Rules {
    let text: string;
    try {
      text = readFileSync(this.#file, "utf8");
    } catch (error) {
      return this.#take(undefined, { fault: `${this.#file}: ${errorMessage(error)}` });
    }
    if (text === this.#text) return this.#rules;
    const rules = parseRules(text);
    return this.#take(text, rules.fault === undefined ? rules : { fault: `${this.#file}: ${rules.fault}` });
  }

  #take(text: string | undefined, rules: Rules): Rules {
    if (rules.fault !== undefined && rules.fault !== this.#rules.fault)
      this.#log("broken rules", { fault: rules.fault });
    if (rules.fault === undefined) this.#log("rules", { names: rules.rules.map(({ name }) => name) });
    this.#text = text;
    this.#rules = rules;
    return rules;
  }
}

/** Publishes the authority in all namespaces whose pods may ask, also those that the rules name later. */
function publishEverywhere(
  apiOf: (namespace: string) => HttpApi,
  authority: Authority,
  rules: RulesFile,
  log: ControllerLog,
): { end(): void } {
  const published = new Set<string>();
  const told = new Map<string, string>();
  const publish = async (namespace: string) => {
    published.add(namespace);
    try {
      await publishAuthority(apiOf(namespace), authority);
      log("published", { namespace });
    } catch (error) {
      published.delete(namespace);
      const reason = errorMessage(error);
      if (told.get(namespace) !== reason) log("failed", { what: "publish", namespace, reason });
      told.set(namespace, reason);
    }
  };
  const look = () => {
    const named = (rules.current.rules ?? []).flatMap(({ who }) => who.namespaces);
    for (const namespace of new Set(named)) if (!published.has(namespace)) void publish(namespace);
  };
  look();
  const timer = setInterval(look, rulesMs);
  return { end: () => clearInterval(timer) };
}
