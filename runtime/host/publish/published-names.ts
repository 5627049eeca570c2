/** The names of all meshes that programs have published on the attached hosts. */
import { currentRuntime } from "../../proc/process/current-runtime.js";
import { readyHosts } from "./check-name.js";

/**
 * Returns the names, sorted.
 * @throws Error if no host is attached, or one cannot be reached
 */
export async function publishedNames(): Promise<string[]> {
  const hosts = await readyHosts("list the published meshes", currentRuntime());
  // A host that has no mesh by a name answers with all names, and no mesh has the empty one.
  const answers = await Promise.all(hosts.map((host) => host.ask((agent) => agent.findPublication.callOne("", 0))));
  return [...new Set(answers.flatMap(({ names }) => names))].sort();
}
