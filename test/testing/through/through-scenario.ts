/**
 * A driver that reaches its hosts through one gateway or two, which are lost and come back, or do not, while connections break and fall
 * silent, and the checks of its guarantees: each message is handled once and in order while a gateway comes back within the
 * absence, and after a longer one the driver knows that its hosts are gone, and they have ended its processes.
 */
import { attachHosts } from "../../../runtime/host/attach-hosts.js";
import { onUnhandledFault } from "../../../runtime/proc/process/current-runtime.js";
import type { FaultKind, SimulateOptions, Simulation } from "../../../runtime/testing/index.js";
import { Counter, type CounterMesh } from "../../actor/counter.js";
import { Gateways, longestLossOfOne, token } from "./gateways.js";

const steps = 60;
/** The time limit of a run in ms of virtual time. */
const limit = 1_200_000;
const absence = 60_000;
/** The time in ms after `absence` in which the driver must have been told, and in which hosts must have ended its processes. */
const verdict = 20_000;
const hostNames = ["n0", "n1"];

/** Connections that break, fall silent or are slow, so that others are made beside them. */
const kinds: readonly FaultKind[] = ["cut", "mute", "slow", "pause", "skew"];

export function optionsOf(seed: number): SimulateOptions {
  return { seed, limit, faults: { count: 6, within: 100_000, kinds, longest: 400 } };
}

export interface Outcome {
  readonly deliveries: number;
  /** Whether all gateways were lost for good at the end. */
  readonly isLost: boolean;
  /** The number of times that the driver went on through another daemon. */
  readonly moves: number;
}

export async function through(simulation: Simulation): Promise<Outcome> {
  const { random } = simulation;
  const gateways = new Gateways(simulation, 1 + random.int(2));
  for (const name of hostNames) {
    simulation.startHost(name, { token });
    simulation.partition("driver", name, 1_000_000_000);
  }
  const told: { readonly at: number; readonly why: string }[] = [];
  onUnhandledFault((failure) => void told.push({ at: simulation.now, why: failure.report() }));
  const addresses = hostNames.map((name) => `tcp://${name}`);
  const hosts = attachHosts(addresses, { token, through: gateways.addresses, absence, silence: 30_000 });
  const mesh = hosts
    .spawnProcs({ gpus: 2 })
    .spawn("counters", Counter as never, ...([0] as never)) as never as CounterMesh<"hosts" | "gpus">;
  await mesh.value.call();
  const sent: string[] = [];
  let pending = 0;
  const ended = () => void pending--;
  for (let i = 0; i < steps; i++) {
    const what = random.number();
    const [far, near] = [random.pick(hostNames), random.pick(gateways.names)];
    const [all, ms, pause] = [random.chance(0.5), random.int(2000), random.int(4000)];
    if (!simulation.step()) continue;
    if (what < 0.15) gateways.lose(all);
    else if (what < 0.2) simulation.cut(simulation.program, gateways.daemon(near));
    else if (what < 0.25) simulation.mute(simulation.program, gateways.daemon(near));
    else if (what < 0.3) simulation.cut(gateways.daemon(near), gateways.daemon(far));
    else if (what < 0.35) simulation.partition(near, far, ms);
    else if (what < 0.75) {
      sent.push(`${i}`);
      mesh.note.broadcast(`${i}`, 0);
    } else {
      pending++;
      mesh.value.call().then(ended, ended);
    }
    await simulation.sleep(pause);
  }
  // The driver has left some gateways, which take it for dead after the absence.
  await simulation.sleep(longestLossOfOne + 2 * absence);
  const kept = told.map(({ why }) => why);
  if (kept.length > 0) throw new Error(`the driver has lost hosts, and a gateway was there: ${kept[0]}`);
  if (pending > 0) throw new Error(`${pending} calls have never ended`);
  const logs = [...(await mesh.log.call()).values()];
  for (const [rank, log] of logs.entries()) checkLog(rank, log, sent);
  const isLost = random.chance(0.3);
  if (isLost) await loseForGood(simulation, gateways, mesh, told);
  else {
    await hosts.stop();
    await simulation.sleep(2 * absence);
  }
  const left = simulation.processes.filter(({ name, ended }) => !ended && /^(hosts=|watches)/.test(name));
  const here = left.filter(({ host }) => !isLost || host !== "driver");
  if (here.length > 0) throw new Error(`${here.map(({ name }) => name)}: ${here.length} processes are left at the end`);
  const moves = simulation.processes.filter(({ name, host }) => name.startsWith("watches") && host !== "driver").length;
  return { deliveries: logs.length * sent.length, isLost, moves: moves - 1 };
}

/** Checks that after the loss of all gateways the driver knows it in time. */
async function loseForGood(
  simulation: Simulation,
  gateways: Gateways,
  mesh: CounterMesh<"hosts" | "gpus">,
  told: readonly { readonly at: number; readonly why: string }[],
): Promise<void> {
  const begun = simulation.now;
  gateways.loseAll();
  const call = mesh.value.callSettled();
  await Promise.race([call, simulation.sleep(2 * absence)]);
  await simulation.sleep(2 * absence);
  const [first] = told;
  if (first === undefined) throw new Error(`nobody was told of the loss, and the absence is ${absence} ms`);
  const took = first.at - begun;
  if (took < absence - 1 || took > absence + verdict) {
    throw new Error(`the loss was told after ${took} ms, and the absence is ${absence} ms: ${first.why}`);
  }
}

function checkLog(rank: number, log: readonly string[], sent: readonly string[]): void {
  const got = log.filter((line) => line.startsWith("+")).map((line) => line.slice(1));
  const seen = new Set<string>();
  for (const [i, one] of got.entries()) {
    if (seen.has(one)) throw new Error(`message ${one} to actor ${rank} came twice`);
    seen.add(one);
    if (i > 0 && Number(one) < Number(got[i - 1])) {
      throw new Error(`message ${one} to actor ${rank} came after ${got[i - 1]}`);
    }
  }
  for (const one of sent) if (!seen.has(one)) throw new Error(`message ${one} to actor ${rank} is missing`);
}
