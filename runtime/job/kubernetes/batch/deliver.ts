/** Brings the program of a command to its pod: the code, the credentials of the run, and the order to start. */
import { errorMessage } from "../../../../shared/text/error-message.js";
import { holding } from "../../batch/batch-run.js";
import type { ClientOrder } from "../../batch/client.js";
import { filesOfCommand, moveCommand } from "../../batch/moved-command.js";
import { openCertificate, proofFor } from "../../driver-proof.js";
import { JobStartError, JobStartTimeoutError } from "../../errors.js";
import { gatewayOf } from "../../gateway-of.js";
import type { CheckedOptions } from "../../job-options.js";
import { attachRoutedHosts } from "../../kernel.js";
import { formatPlace } from "../../mesh-spec.js";
import { codeProgress } from "../../progress.js";
import type { Delivery, ReadyHost, Report } from "../../provider.js";
import { meshLimits, startLimit } from "../../start-limit.js";
import type { KubernetesApi } from "../api/kubernetes-api.js";
import type { KubernetesSpec } from "../kubernetes-spec.js";
import { commandCompute } from "../manifest/command-compute.js";
import { commandMesh } from "../manifest/layout.js";
import type { JobComplaints } from "../pods/job-complaints.js";
import type { PodFeed } from "../pods/pod-feed.js";
import type { PodSigner } from "../pods/pod-signer.js";
import type { PodFacts } from "../pods/pod-state.js";
import { HostWait } from "../pods/ready-hosts.js";
import type { CommandOrder } from "./command-order.js";
import { privateFiles } from "./private-files.js";
import { sendOrder } from "./send-order.js";

/** The run to whose pod the program is brought. */
export interface DeliveredRun {
  readonly spec: KubernetesSpec;
  readonly api: KubernetesApi;
  readonly feed: PodFeed;
  readonly complaints: JobComplaints;
  /** The folder of the run. */
  readonly folder: string;
  /** Signs the certificates of all pods until the pod of the command does; undefined if they have none. */
  readonly signer: PodSigner | undefined;
  readonly hostOf: (pod: PodFacts) => Promise<ReadyHost>;
}

const place = { mesh: commandMesh, rank: 0 };

/**
 * @throws JobStartError if the pod does not come up, or has no service account
 * @throws Error if it does not take the program
 */
export async function deliverCommand(run: DeliveredRun, delivery: Delivery): Promise<void> {
  const { feed, signer } = run;
  const signing = new AbortController();
  const either = AbortSignal.any([delivery.signal, signing.signal]);
  // Faults are those of the wait for the pod, too.
  feed.until<never>((state) => void signer?.seePods(state), either).catch(() => {});
  try {
    const host = await run.hostOf(await podOf(run, delivery));
    await bringProgram(run, delivery, host, async () => {
      signing.abort();
      await signer?.leave();
    });
  } finally {
    signing.abort();
    signer?.close();
  }
}

/** Waits until the daemon in the pod listens. */
async function podOf(
  { spec, feed, complaints }: DeliveredRun,
  { options, report, signal }: Delivery,
): Promise<PodFacts> {
  const { launchTimeout } = commandCompute(spec);
  const own =
    launchTimeout === undefined ? {} : { [commandMesh]: { ms: launchTimeout, option: "launchTimeout of commandPod" } };
  const late = startLimit(meshLimits([commandMesh], own, options.hostTimeout), () => true, report);
  const wait = new HostWait({ ...spec, meshes: { [commandMesh]: { hosts: 1, compute: {} } } }, false, late.report);
  const refusing = new AbortController();
  const telling = AbortSignal.any([signal, refusing.signal, late.signal]);
  const tell: Report = (event) => {
    if (event.mesh !== commandMesh) return undefined;
    if (!/error looking up service account/.test(event.reason)) return late.report({ ...event, ...place });
    const advice = `make it with the objects that "viceroy job rbac" prints`;
    refusing.abort(
      new JobStartError(spec.name, `the pod of its command has no service account: ${event.reason}; ${advice}`),
    );
  };
  const leave = complaints.listen({ report: tell, onDenied: (reason) => wait.denied(reason) });
  try {
    const [pod] = await holding(feed.until((state) => wait.look(state), telling));
    return pod!;
  } catch (error) {
    if (late.passed === undefined) throw error;
    const { ms, option } = late.passed;
    const why = [feed.awayReason, wait.reason].filter((text) => text).join("; ");
    throw new JobStartTimeoutError(spec.name, ms, [formatPlace(place)], why, option);
  } finally {
    leave();
    late.end();
    refusing.abort();
  }
}

/** @param handOver lets the pod sign from now on */
async function bringProgram(
  { spec, folder }: DeliveredRun,
  { client, record, options }: Delivery,
  host: ReadyHost,
  handOver: () => Promise<void>,
): Promise<void> {
  const { name } = spec;
  const certificate = await openCertificate({ name, folder }, spec.tls, "driver");
  const attached = attachRoutedHosts(
    [host],
    { ...options.attach, name: commandMesh, ...proofFor(name, [host], certificate?.files) },
    { hasOwnProof: true, isSameLog: false, gateway: gatewayOf(() => [host]), choosesWay: true },
  );
  try {
    await attached.ready;
    const moved = await bringCode(attached, client, options);
    await handOver();
    const order: CommandOrder = { ...moved, env: client.env, record, files: privateFiles(folder) };
    await sendOrder(attached, spec.node ?? "node", order);
  } catch (cause) {
    const reason = `cannot bring the program of its command to the pod at ${host.address}: ${errorMessage(cause)}`;
    throw new JobStartError(name, reason, { cause });
  } finally {
    await attached.stop({ drain: 0 });
    certificate?.close();
  }
}

/** Brings the code, unless the image has it. @returns the command with the paths that its files have in the pod */
async function bringCode(
  attached: ReturnType<typeof attachRoutedHosts>,
  { command, cwd }: ClientOrder,
  options: CheckedOptions,
): Promise<Pick<CommandOrder, "command" | "cwd">> {
  if (options.sync === null) return { command, cwd };
  const place = await attached.bringProgram(
    { ...options.sync, ...codeProgress(options.name, commandMesh, options) },
    filesOfCommand({ command, cwd }),
  );
  return moveCommand({ command, cwd }, place);
}
