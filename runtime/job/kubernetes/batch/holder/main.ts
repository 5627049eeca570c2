/**
 * The program of the pod of a command, which holds the run: it lets a daemon of Viceroy take the program from the driver that has submitted the job,
 * signs the certificates of the hosts, runs the command, and ends the hosts. Its exit code is that of the command. It is built as one file, which
 * a ConfigMap brings.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { errorMessage } from "../../../../../shared/text/error-message.js";
import type { JobRecord } from "../../../record/job-record.js";
import { HttpApi } from "../../api/http-api.js";
import { podAccess, serviceAccountFolder } from "../../api/pod-access.js";
import type { KubernetesSpec } from "../../kubernetes-spec.js";
import { type CommandOrder, failureMark, orderVariable, podFailed, toldToEnd, waitingLine } from "../command-order.js";
import { endHosts, hostJobs } from "../end-hosts.js";
import { DaemonOfPod } from "./daemon-of-pod.js";
import { runCommand } from "./run-command.js";
import { signHosts } from "./sign-hosts.js";
import { writeRun } from "./write-run.js";

/** Time in ms between two looks for the order. */
const lookMs = 100;

const telling = new AbortController();
process.on("SIGTERM", () => telling.abort());

/** The id of the run, which the template tells, so that the hosts end also if no order comes. */
const applyId = process.env["VICEROY_JOB"] ?? "";

/** Waits for the order. @throws Error if the daemon ends without it, in the words of the daemon */
async function takeOrder(folder: string): Promise<CommandOrder | undefined> {
  const file = join(folder, "order.json");
  const daemon = new DaemonOfPod(join(__dirname, "host.cjs"), { ...process.env, [orderVariable]: file });
  while (!existsSync(file) && daemon.isRunning && !telling.signal.aborted) await pause(lookMs);
  await daemon.stop();
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as CommandOrder;
  if (telling.signal.aborted) return undefined;
  throw new Error(`its pod has got no program from the one that has submitted it: ${daemon.lastWords}`);
}

async function hold(api: HttpApi, own: string): Promise<number> {
  const order = await takeOrder(own);
  if (order === undefined) return toldToEnd;
  const record = JSON.parse(order.record) as JobRecord;
  const run = writeRun(join(own, "run"), order);
  const signing = await signHosts(api, record.spec as unknown as KubernetesSpec, applyId, run);
  try {
    return await runCommand(order, run, telling.signal);
  } finally {
    signing?.abort();
  }
}

async function start(): Promise<number> {
  console.log(waitingLine);
  const own = mkdtempSync(join(tmpdir(), "viceroy-command-"));
  const api = new HttpApi(podAccess(), readFileSync(join(serviceAccountFolder, "namespace"), "utf8").trim());
  try {
    // A service account without its Role is found now, and not when the command has worked for hours.
    await hostJobs(api, applyId);
    return await hold(api, own);
  } finally {
    rmSync(own, { recursive: true, force: true });
    await endHosts(api, applyId);
  }
}

process.title = "viceroy job";
start()
  .catch((error: unknown) => {
    const text = errorMessage(error);
    process.stderr.write(`${failureMark}${text.startsWith("its ") ? text : `its pod cannot run it: ${text}`}\n`);
    return podFailed;
  })
  .then((code) => process.exit(code));
