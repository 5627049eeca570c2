/**
 * The program of a machine that SkyPilot has launched. Without arguments, it is the command of SkyPilot's job: it starts the host of the machine unless
 * that runs, announces it, and prints what it prints, as long as it runs. With `host <address>`, it is the host. It is built as one file, which `setup`
 * of the task brings.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { errorMessage } from "../../../../shared/text/error-message.js";
import { orderName } from "../task/machine-script.js";
import { followLog } from "./follow-log.js";
import { formatAnnouncement, formatHostLine } from "./host-lines.js";
import { type MachineOrder, placeOfMachine } from "./machine-order.js";
import { findHost, startHost } from "./running-host.js";
import { serveHost } from "./serve-host.js";

/** The exit code of a host that cannot start. */
const failed = 70;

/** @throws Error if SkyPilot has not started this program */
function variable(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== "") return value;
  throw new Error(`cannot start: SkyPilot has set no variable ${name}`);
}

async function hold(folder: string, order: MachineOrder): Promise<number> {
  const addresses = variable("SKYPILOT_NODE_IPS").split("\n");
  const own = Number(variable("SKYPILOT_NODE_RANK"));
  const found = await findHost(folder, order);
  const place = found?.announcement ?? placeOfMachine(order, addresses, own);
  const host = found ?? (await startHost(folder, order, place, addresses[own]!, __filename));
  console.log(formatAnnouncement(host.announcement));
  await followLog(host.log, found === undefined, host.ended, (line) => console.log(formatHostLine(place, line)));
  // Another exit code would make SkyPilot end what the other machines run.
  console.log(formatHostLine(place, "viceroy host: has ended"));
  return 0;
}

async function start([role, ip]: readonly string[]): Promise<number> {
  const folder = __dirname;
  const order = JSON.parse(readFileSync(join(folder, orderName), "utf8")) as MachineOrder;
  if (role !== "host") return hold(folder, order);
  const place = { mesh: variable("VICEROY_JOB_MESH"), rank: Number(variable("VICEROY_JOB_RANK")) };
  return serveHost(folder, order, place, ip!);
}

process.title = "viceroy host";
start(process.argv.slice(2))
  .catch((error) => {
    process.stderr.write(`viceroy host: ${errorMessage(error)}\n`);
    return failed;
  })
  .then((ended) => process.exit(ended));
