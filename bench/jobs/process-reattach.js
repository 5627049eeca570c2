/** `ProcessJob`: a second run of a program uses the hosts of the first. */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { runJson } from "../harness/index.js";
import { measureReattach } from "./reattach.js";

const driver = fileURLToPath(new URL("driver.js", import.meta.url));

export async function measure({ options, workDir }) {
  const hosts = options.quick ? 2 : 4;
  const job = JSON.stringify({ meshes: { workers: { hosts } }, cache: path.join(workDir, "process.json") });
  const run = (how) => runJson([process.execPath, driver, "process", job, "2", how]);
  return [await measureReattach(`ProcessJob, used again: ${hosts} hosts, ${hosts * 2} actors`, run, options)];
}
