/** All hosts that the controller has provided: grants requests by the rules, and ends what nobody renews. */
import { randomBytes, randomUUID } from "node:crypto";
import { errorMessage } from "../../../../shared/text/error-message.js";
import { credentialsFolder } from "../../credentials/credentials-folder.js";
import { formatPlace, hostPlaces } from "../../mesh-spec.js";
import { awayLimit, retrying } from "../../retry.js";
import type { ProvisionGrant, ProvisionRequest } from "../provision/protocol.js";
import { type ControllerPlace, ProvisionedJob, runFolder } from "./provisioned-job.js";
import { type Asker, decide, totalUsage, type Usage, usageOf } from "./rules/decide.js";
import type { Rules } from "./rules/parse-rules.js";
import { provisionLabel, restoreSaved } from "./saved-provision.js";

/** Time in ms between two looks for leases that nobody renews. */
const lookMs = 500;

/** Time in ms for which the reason of the end is kept for the program that has asked. */
const endedMs = 60_000;

/** Maximum number of characters of the part of a job's name that is the name of the job that asks. */
const longestPrefix = 32;

/** Thrown when no rule allows a request. */
export class DeniedError extends Error {}

export class Provisions {
  readonly #place: ControllerPlace;
  readonly #rules: () => Rules;
  readonly #jobs = new Map<string, ProvisionedJob>();
  readonly #timer: NodeJS.Timeout;

  /** @param rules returns the rules as they are now */
  constructor(place: ControllerPlace, rules: () => Rules) {
    this.#place = place;
    this.#rules = rules;
    this.#timer = setInterval(() => this.#look(), lookMs);
  }

  /** Goes on with all hosts that an earlier controller has provided, each with a fresh lease. @throws KubernetesError if they cannot be read */
  async restore(): Promise<void> {
    const { api, folder, log } = this.#place;
    const labelSelector = `${provisionLabel}=true`;
    const { items } = await retrying(() => api.list("Secret", { labelSelector }), { limit: awayLimit });
    for (const secret of items) {
      try {
        const saved = restoreSaved(secret, (found) => credentialsFolder(runFolder(folder, found)));
        const job = new ProvisionedJob(this.#place, saved);
        const isThere = await job.restore();
        log("restored", { id: saved.id, name: saved.name, namespace: saved.namespace, isThere });
        this.#add(job);
        if (!isThere) void job.end("the controller has ended before it has made its hosts");
      } catch (error) {
        log("failed", { what: "restored", secret: secret.metadata.name, reason: errorMessage(error) });
      }
    }
  }

  /**
   * Provides hosts.
   * @throws DeniedError if no rule allows them; KubernetesError, TypeError, RangeError if they cannot be made
   */
  async grant(asker: Asker, request: ProvisionRequest): Promise<ProvisionGrant> {
    const { log, now } = this.#place;
    const hosts = hostPlaces(request.meshes as Readonly<Record<string, { hosts: number }>>).map(formatPlace);
    const decision = decide(this.#rules(), asker, request, (rule) => this.#usedBy(asker, rule));
    if (decision.denied !== undefined) {
      log("denied", { ...asker, hosts, reason: decision.denied });
      throw new DeniedError(decision.denied);
    }
    const { rule, namespace } = decision;
    const suffix = randomBytes(4).toString("hex");
    const name = `${asker.job.slice(0, longestPrefix).replace(/-+$/, "")}-${suffix}`;
    const [id, applyId] = [randomUUID(), randomUUID()];
    log("granted", { ...asker, id, rule, namespace, name, hosts });
    const job = new ProvisionedJob(this.#place, {
      id,
      applyId,
      name,
      namespace,
      asker,
      rule,
      request,
      submittedAt: now(),
    });
    // It counts from now on, so that requests that come meanwhile cannot exceed the limits together.
    this.#add(job);
    return job.submit();
  }

  /** Returns what a pod has asked for; undefined if there is no such thing, or another pod has asked for it. */
  find(asker: Asker, id: string): ProvisionedJob | undefined {
    const job = this.#jobs.get(id);
    return job?.saved.asker.uid === asker.uid ? job : undefined;
  }

  /** Leaves everything running, because the controller ends. */
  close(): void {
    clearInterval(this.#timer);
    for (const job of this.#jobs.values()) job.leave();
  }

  #add(job: ProvisionedJob): void {
    this.#jobs.set(job.saved.id, job);
  }

  #usedBy({ namespace, job }: Asker, rule: string): Usage {
    const own = [...this.#jobs.values()].filter(
      ({ saved, isOver }) =>
        !isOver && saved.rule === rule && saved.asker.namespace === namespace && saved.asker.job === job,
    );
    return totalUsage(own.map(({ saved }) => usageOf(saved.request)));
  }

  #look(): void {
    for (const [id, job] of this.#jobs) {
      if (job.isOver && this.#place.now() - job.endedAt > endedMs) this.#jobs.delete(id);
      if (job.isEnding || !job.isExpired) continue;
      const seconds = this.#place.lease / 1000;
      void job.end(`the program that has asked for it has not renewed its lease for ${seconds} s`);
    }
  }
}
