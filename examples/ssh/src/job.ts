/**
 * The job: the machines that the command line names, or two hosts on this machine with `--local`. Further words that begin with
 * a hyphen are options of `ssh`, with their values after `=`: `-F=cluster.conf`.
 */
import { type Job, ProcessJob, SSHJob } from "viceroy/job";

const local = "--local";

/** @throws Error if no host is named */
export function makeJob(args: readonly string[]): Job<"searchers"> {
  if (args.includes(local)) return new ProcessJob({ meshes: { searchers: { hosts: 2 } }, cache: null });
  const hosts = args.filter((arg) => !arg.startsWith("-"));
  if (hosts.length === 0) throw new Error(`cannot search: name the hosts, as ssh knows them, or use ${local}`);
  const sshOptions = args.filter((arg) => arg.startsWith("-")).flatMap((option) => option.split("=", 2));
  return new SSHJob({ meshes: { searchers: { hosts } }, sshOptions, cache: null });
}
