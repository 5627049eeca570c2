/** Prints the pids of its processes, makes one spin and one stop, and waits to be killed. */
import { thisHost } from "viceroy";
import "../generated/registry.js";
import { RealBoss } from "../src/boss.js";
import { RealProbe } from "../src/probe.js";

const procs = thisHost().spawnProcs({ gpus: 2 });
const probes = procs.spawn("probes", RealProbe);
const boss = procs.slice({ gpus: 0 }).spawn("boss", RealBoss, "handled");
const pids = [...(await probes.pid.call()).values(), ...(await boss.hire.callOne(2))];
process.kill(pids[1]!, "SIGSTOP");
console.log(pids.join(" "));
setInterval(() => {}, 1000);
