/** Meshes don't keep the driver alive: a program that has nothing pending ends by itself, and takes its processes along. */
import { thisHost } from "viceroy";
import "../generated/registry.js";
import { RealProbe } from "../src/probe.js";

const procs = thisHost().spawnProcs({ gpus: 2 });
const probes = procs.spawn("probes", RealProbe);
console.log([...(await probes.pid.call()).values()].join(" "));
