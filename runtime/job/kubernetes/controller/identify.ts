/** Finds out who asks: the API server proves the token of a pod, and knows the job of the pod. */
import { createHash } from "node:crypto";
import type { ReviewedUser } from "../api/http-api.js";
import type { ApiObject } from "../api/kubernetes-api.js";
import { jobLabel } from "../manifest/layout.js";
import { controllerName } from "../provision/protocol.js";
import type { Asker } from "./rules/decide.js";

/** Time in ms for which an answer of the API server is used again. A pod that is gone is noticed by its watch. */
const knownMs = 20_000;

/** Maximum number of answers that are kept, and of questions that are asked at the same time: anybody in the cluster can send tokens. */
const mostKnown = 4096;
const mostQuestions = 32;

/** Maximum number of characters of a token. */
const longestToken = 16_384;

/** Thrown when a request has no valid token, or comes from a pod that cannot ask. */
export class UnknownAsker extends Error {
  /** The status of HTTP. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The questions to the API server. */
export interface TokenCluster {
  reviewToken(token: string, audience: string): Promise<ReviewedUser | undefined>;
  /** Returns a pod; undefined if there is none of this name. */
  pod(namespace: string, name: string): Promise<ApiObject | undefined>;
}

export class Identification {
  readonly #cluster: TokenCluster;
  readonly #now: () => number;
  readonly #known = new Map<string, { readonly asker: Asker; readonly until: number }>();
  #questions = 0;

  /** @param now returns ms of a clock */
  constructor(cluster: TokenCluster, now: () => number) {
    this.#cluster = cluster;
    this.#now = now;
  }

  /**
   * Returns the pod whose token a request has.
   * @param authorization the header of this name
   * @throws UnknownAsker if it has none; KubernetesError if the API server cannot be asked
   */
  async identify(authorization: string | undefined): Promise<Asker> {
    const [, token = ""] = /^Bearer (\S+)$/.exec(authorization ?? "") ?? [];
    if (token === "" || token.length > longestToken) {
      throw new UnknownAsker(401, "the request has no token of a service account");
    }
    const key = createHash("sha256").update(token).digest("base64");
    const known = this.#known.get(key);
    if (known !== undefined && known.until > this.#now()) return known.asker;
    if (this.#questions >= mostQuestions) {
      throw new UnknownAsker(503, "the controller proves too many tokens at the same time; ask again");
    }
    this.#questions++;
    try {
      const asker = await this.#ask(token);
      // The oldest answers go first: a map keeps the order in which they came.
      this.#known.delete(key);
      if (this.#known.size >= mostKnown) this.#known.delete(this.#known.keys().next().value!);
      this.#known.set(key, { asker, until: this.#now() + knownMs });
      return asker;
    } finally {
      this.#questions--;
    }
  }

  async #ask(token: string): Promise<Asker> {
    const user = await this.#cluster.reviewToken(token, controllerName);
    if (user === undefined) {
      throw new UnknownAsker(
        401,
        `the API server does not accept the token for the audience "${controllerName}": it has expired, or is for somebody else`,
      );
    }
    const [, namespace = "", serviceAccount = ""] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user.username) ?? [];
    const pod = user.extra["authentication.kubernetes.io/pod-name"]?.[0] ?? "";
    const uid = user.extra["authentication.kubernetes.io/pod-uid"]?.[0] ?? "";
    if (namespace === "" || pod === "" || uid === "") {
      throw new UnknownAsker(403, `the token of "${user.username}" is not bound to a pod; ask from a pod of a job`);
    }
    const found = await this.#cluster.pod(namespace, pod);
    if (found?.metadata.uid !== uid)
      throw new UnknownAsker(403, `the pod "${pod}" in namespace "${namespace}" is gone`);
    const job = found.metadata.labels?.[jobLabel];
    if (job === undefined) {
      throw new UnknownAsker(
        403,
        `the pod "${pod}" in namespace "${namespace}" belongs to no job: it has no label ${jobLabel}`,
      );
    }
    return { namespace, serviceAccount, pod, uid, job };
  }
}
