/** Asks the controller for hosts, and attaches them to this program. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeValue } from "../../../../shared/text/describe-value.js";
import { errorMessage } from "../../../../shared/text/error-message.js";
import { abortable } from "../../../link/abortable.js";
import { checkOptionNames } from "../../../shape/check-options.js";
import { optionError } from "../../check-option.js";
import { credentialsFolder } from "../../credentials/credentials-folder.js";
import { JobError, JobProvisionError } from "../../errors.js";
import { JobLife } from "../../job-life.js";
import { type CheckedOptions, checkJobOptions } from "../../job-options.js";
import { makeJobState } from "../../job-state.js";
import { type HostMesh, ownActorEnd } from "../../kernel.js";
import { checkMeshes } from "../../mesh-spec.js";
import { draftRecord } from "../../record/draft-record.js";
import { Compute } from "../compute/compute.js";
import { type ComputeSpec, computeOptionNames } from "../compute/compute-options.js";
import { type ControllerAccess, ControllerClient, ControllerError, controllerAccess } from "./controller-client.js";
import { type ProvisionGrant, type ProvisionRequest, provisionsPath } from "./protocol.js";
import type { Provisioned, ProvisionHandle, ProvisionMesh, ProvisionOptions } from "./provision-options.js";
import { ProvisionedProvider } from "./provisioned-provider.js";

/** Time in ms for which a controller that is away, or has not published its authority yet, is asked again. */
const awayLimitMs = 60_000;
const awayMs = 1000;

/** The program and the actor that ask. */
interface ProvisionAsker {
  /** Undefined: the pod of the program has no access to a controller. */
  readonly access: ControllerAccess | undefined;
  readonly ownerEnd: () => Error | undefined;
}

/**
 * Gets hosts from the controller.
 * @param job the name of the job in whose pod this program runs
 * @param asker how this program asks, and why the actor that asks has ended; undefined while it runs
 * @throws JobProvisionError if the controller refuses, or the hosts do not come up; nothing is left then
 * @throws TypeError, RangeError if an option is malformed
 */
export async function provision<M extends string>(
  job: string,
  meshes: Readonly<Record<M, ProvisionMesh>>,
  options: ProvisionOptions,
  { access, ownerEnd }: ProvisionAsker = { access: controllerAccess(), ownerEnd: ownActorEnd() },
): Promise<Provisioned<M>> {
  const checked = checkOptions(job, options);
  const request = requestOf(meshes, options, checked);
  if (access === undefined) {
    throw new JobProvisionError(
      job,
      "this program does not run in a pod that may ask a controller; submit a KubernetesJob with provision: true",
    );
  }
  const client = new ControllerClient(access);
  let hosts: OwnedHosts | undefined;
  try {
    const grant = await grantOf(client, request, options.signal);
    hosts = await adopt(grant, request, checked, { client, ownerEnd });
    return await attach<M>(hosts, options.signal, ownerEnd);
  } catch (cause) {
    const release = hosts?.release() ?? Promise.resolve(client.close());
    const left = await release.then(
      () => "",
      (error: unknown) =>
        `; what was made ends when its lease is over, because it cannot be released: ${errorMessage(error)}`,
    );
    if (options.signal?.aborted) throw cause;
    throw new JobProvisionError(job, `${reasonOf(cause)}${left}`, { cause });
  }
}

function reasonOf(cause: unknown): string {
  // The name of the job that the controller has made tells users nothing.
  return cause instanceof JobError ? cause.message.replace(/^cannot start job "[^"]*": /, "") : errorMessage(cause);
}

const optionNames = ["namespace", "hostTimeout", "attach", "sync", "signal"] as const;

function checkOptions(job: string, options: ProvisionOptions): CheckedOptions {
  checkOptionNames("cannot provision hosts", options, optionNames);
  const { namespace: _, signal: __, ...ofJob } = options;
  return checkJobOptions({ ...ofJob, name: job, cache: null }, []);
}

function requestOf(
  meshes: Readonly<Record<string, ProvisionMesh>>,
  { namespace }: ProvisionOptions,
  { lostTimeout }: CheckedOptions,
): ProvisionRequest {
  const plain = typeof meshes === "object" && meshes !== null ? { ...meshes } : meshes;
  checkMeshes(Object.fromEntries(Object.keys(plain ?? {}).map((name) => [name, {}])), computeOptionNames);
  const specs = Object.entries(meshes).map(([mesh, given]): [string, ComputeSpec] => {
    if (mesh === "release") throw optionError('another name than "release", by which the hosts are ended', mesh);
    const { image = `node:${process.versions.node.split(".")[0]}` } = given;
    if (typeof image !== "string") {
      throw new TypeError(
        `cannot provision hosts: expected image of mesh "${mesh}" as the name of a container image, got ${describeValue(image)}`,
      );
    }
    return [mesh, new Compute({ ...given, image }).spec];
  });
  const request = { meshes: Object.fromEntries(specs), lostTimeout };
  return namespace === undefined ? request : { ...request, namespace };
}

/** Asks until the controller has decided. One that starts, or is being replaced, is asked again. */
async function grantOf(
  client: ControllerClient,
  request: ProvisionRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<ProvisionGrant> {
  const end = performance.now() + awayLimitMs;
  for (;;) {
    try {
      return await client.ask<ProvisionGrant>("POST", provisionsPath, signal, request);
    } catch (error) {
      const isTransient = error instanceof ControllerError && error.isTransient && error.status !== 401;
      if (!isTransient || performance.now() + awayMs > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, awayMs));
      signal.throwIfAborted();
    }
  }
}

/** The hosts of one request, which this program has not attached yet. */
interface OwnedHosts {
  readonly life: JobLife;
  /** Ends the hosts. Idempotent. */
  release(): Promise<void>;
}

/** Makes a job of what the controller has granted, as of one that another program has submitted. */
async function adopt(
  { id, applyId, name, credentials }: ProvisionGrant,
  { meshes }: ProvisionRequest,
  options: CheckedOptions,
  owner: { readonly client: ControllerClient; readonly ownerEnd: () => Error | undefined },
): Promise<OwnedHosts> {
  const sizes = Object.fromEntries(Object.entries(meshes).map(([mesh, { hosts }]) => [mesh, { hosts: hosts! }]));
  const provider = new ProvisionedProvider({ id, name, meshes: sizes, ...owner });
  const folder = mkdtempSync(join(tmpdir(), "viceroy-provision-"));
  const { saveShared } = await import("../../credentials/index.js");
  saveShared(credentialsFolder(folder), "drivers", credentials);
  const record = { ...draftRecord(provider, { name, applyId, submittedAt: Date.now(), folder }), allocation: id };
  const life = new JobLife(provider, { ...options, name }, record);
  let releasing: Promise<void> | undefined;
  const release = () => {
    releasing ??= life.kill().finally(() => rmSync(folder, { recursive: true, force: true }));
    return releasing;
  };
  return { life, release };
}

/** Waits for the hosts, and attaches them. @throws the end of the actor that has asked, or the reason of `signal` */
async function attach<M extends string>(
  { life, release }: OwnedHosts,
  signal: AbortSignal | undefined,
  ownerEnd: () => Error | undefined,
): Promise<Provisioned<M>> {
  const run = await abortable(life.applied(), signal);
  const meshes = await abortable(life.meshesOf(run), signal);
  const end = ownerEnd();
  if (end !== undefined) throw end;
  const state = makeJobState<M>(life.name, meshes as Readonly<Record<M, HostMesh<"hosts">>>);
  const handle: ProvisionHandle = { release, [Symbol.asyncDispose]: release };
  return new Proxy(state, {
    get: (target, name) =>
      Object.hasOwn(handle, name) ? handle[name as keyof ProvisionHandle] : Reflect.get(target, name),
  }) as Provisioned<M>;
}
