/** Without a hook, an unhandled fault prints the report and ends the program with code 1. */
import { thisHost } from "viceroy";
import "../generated/registry.js";
import { RealProbe } from "../src/probe.js";

const probe = thisHost().spawnProcs({ gpus: 1 }).spawn("probe", RealProbe).slice({ gpus: 0 });
console.log(await probe.echo.callOne("up"));
probe.fail.broadcast("unhandled at the root");
await new Promise((resolve) => setTimeout(resolve, 60_000));
console.log("never reached");
