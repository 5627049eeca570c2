/** Loads the module that a user names, and finds the job that it exports. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Job } from "../job.js";

/**
 * Returns the job that a module exports.
 * @param name the name of the export
 * @throws Error if the module cannot be loaded, or exports no job of that name
 */
export async function loadJob(file: string, name: string): Promise<Job> {
  const module = (await import(pathToFileURL(resolve(file)).href)) as Record<string, unknown>;
  const found = module[name];
  if (found instanceof Job) return found;
  const jobs = Object.keys(module).filter((key) => module[key] instanceof Job);
  const what = name === "default" ? "no job as its default" : `no job as "${name}"`;
  const advice =
    jobs.length === 0
      ? "write `export default new ProcessJob({ … })`, or export another job"
      : `name one of its jobs with --export: ${jobs.join(", ")}`;
  throw new Error(`cannot use ${file}: it exports ${what}; ${advice}`);
}
