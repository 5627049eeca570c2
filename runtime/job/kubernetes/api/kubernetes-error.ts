/** Errors between a job and the API server. Each message says what was asked, where, why it failed, and what to do. */
import { errorMessage } from "../../../../shared/text/error-message.js";
import type { RetryableError } from "../../retry.js";

/** The status of an answer to credentials that are not valid, or not valid any more. */
const unauthorized = 401;

/** Thrown when the API server refuses a request, or cannot be asked. */
export class KubernetesError extends Error implements RetryableError {
  override readonly name = "KubernetesError";
  /** The status of HTTP; 0 if the API server has not answered. */
  readonly status: number;
  /** The reason of the API server in one word, such as `"AlreadyExists"`; empty if it has not answered. */
  readonly reason: string;
  /** The time in ms after which the API server wants to be asked again; absent if it has not said so. */
  readonly retryAfter?: number;
  readonly #wasAllowed: boolean;

  /** @param facts `wasAllowed`: whether the API server refuses what it has allowed this program before */
  constructor(
    message: string,
    facts: {
      readonly status: number;
      readonly reason?: string;
      readonly retryAfter?: number | undefined;
      readonly wasAllowed?: boolean;
    },
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.status = facts.status;
    this.reason = facts.reason ?? "";
    if (facts.retryAfter !== undefined) this.retryAfter = facts.retryAfter;
    this.#wasAllowed = facts.wasAllowed ?? false;
  }

  /**
   * Whether the same request may succeed later: the API server is away, starts, or is busy. One that starts refuses everything until it has read the
   * Roles.
   */
  get isTransient(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500 || this.#wasAllowed;
  }

  /** Whether the credentials were not accepted, or could not be got. They can be others after the user has logged in again. */
  get isLoginFailure(): boolean {
    return this.status === unauthorized;
  }
}

/** The verb, the resource and the name of a request, for errors. */
export interface Asked {
  /** The verb of RBAC: `list`. */
  readonly verb: string;
  /** The resource of RBAC: `pods/log`. */
  readonly resource: string;
  /** The name of the object; absent if the request is about several. */
  readonly name?: string | undefined;
  readonly namespace: string;
}

/** The user and the server of a request, for errors. */
export interface Asker {
  readonly server: string;
  /** The user of the kubeconfig file and its context, or the service account. */
  readonly who: string;
}

/** The body of an answer that refuses a request. */
interface StatusBody {
  readonly message?: string;
  readonly reason?: string;
}

/** An answer that refuses a request. */
export interface Refusal {
  readonly status: number;
  /** The body of the answer. */
  readonly text: string;
  readonly retryAfter?: number | undefined;
  /** Whether the API server has allowed such a request before. */
  readonly wasAllowed?: boolean;
}

/** Makes the error of an answer. */
export function refusedError(
  { status, text, retryAfter, wasAllowed = false }: Refusal,
  asked: Asked,
  { server, who }: Asker,
): KubernetesError {
  const { message = text.slice(0, 400).trim() || `status ${status}`, reason = "" } = parseStatus(text);
  const facts = { status, reason, retryAfter };
  if (status === unauthorized) {
    const text = `the API server at ${server} does not accept the credentials of ${who}: ${message}`;
    return new KubernetesError(`${text}; they may have expired: log in to the cluster again`, facts);
  }
  if (status === 403 && reason === "Forbidden") {
    const said = message.trim();
    // The server gives no reason if an object may be patched, and may not be made by the patch.
    const verb = said.endsWith(" is forbidden:") ? "create" : /\bcannot (\w+) resource\b/.exec(said)?.[1];
    const may = `${who} may not ${verb} ${asked.resource} in namespace "${asked.namespace}"`;
    const advice = '"viceroy job rbac" prints the Role that it needs';
    if (verb !== undefined) {
      return new KubernetesError(`${may}: ${said.replace(/:$/, "")}; ${advice}`, { ...facts, wasAllowed });
    }
  }
  return new KubernetesError(`cannot ${describe(asked)}: ${message}${adviceFor(status, message, asked)}`, facts);
}

/** Returns what a user can do about a namespace that is not there, or not there for long; empty for other refusals. */
function adviceFor(status: number, message: string, { namespace }: Asked): string {
  if (status === 404 && message === `namespaces "${namespace}" not found`) {
    return `; make it with kubectl create namespace ${namespace}, or name another one`;
  }
  if (status === 403 && message.endsWith("because it is being terminated")) {
    return "; wait until it is gone and make it again, or name another one";
  }
  return "";
}

/** Makes the error of a request without an answer. */
export function silentError(cause: unknown, asked: Asked, { server }: Asker): KubernetesError {
  const text = `cannot ${describe(asked)}: the API server at ${server} does not answer: ${networkReason(cause)}`;
  return new KubernetesError(text, { status: 0 }, { cause });
}

/** Makes the error of a user whose credentials cannot be got, such as when the program fails that a kubeconfig file names for that. */
export function loginError(cause: unknown, { server, who }: Asker): KubernetesError {
  const text = `cannot log in to the API server at ${server} as ${who}: ${errorMessage(cause).trim()}`;
  return new KubernetesError(`${text}; log in to the cluster again`, { status: unauthorized }, { cause });
}

/** Returns the words of an error of the network, which can be in one of several errors. */
function networkReason(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return networkReason(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  return error.message === "" ? ((error as NodeJS.ErrnoException).code ?? error.name) : error.message;
}

function describe({ verb, resource, name, namespace }: Asked): string {
  return `${verb} ${resource}${name === undefined ? "" : ` "${name}"`} in namespace "${namespace}"`;
}

function parseStatus(text: string): StatusBody {
  try {
    const body = JSON.parse(text) as StatusBody | null;
    return typeof body === "object" && body !== null ? body : {};
  } catch {
    return {};
  }
}
