/** What a request asks for: the resource in its path, and the verb of Kubernetes for its method. */
import { groupVersion, type Resource, resources } from "./resources.js";
import { StatusError } from "./status-error.js";

export interface ApiRequest {
  readonly verb: string;
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
}

const path = /^\/(?:api\/(?<core>v1)|apis\/(?<named>[^/]+\/[^/]+))(?:\/(?<rest>.+))?$/;

/**
 * @returns undefined for a path that names no resource
 * @throws StatusError with the code 404 if the resource or subresource is not served
 */
export function parseRequest(method: string, url: URL): ApiRequest | undefined {
  const groups = path.exec(url.pathname)?.groups;
  if (groups?.["rest"] === undefined) return undefined;
  const parts = groups["rest"].split("/").map(decodeURIComponent);
  // The path of a namespace itself has two parts, as has its subresource `status` with a third one.
  const inside = parts[0] === "namespaces" && parts.length > 2 && !["status", "finalize"].includes(parts[2]!);
  const [plural, name, subresource] = inside ? parts.slice(2) : parts;
  const wanted = groups["core"] ?? groups["named"];
  const resource = resources.find((candidate) => candidate.plural === plural && groupVersion(candidate) === wanted);
  const known = resource !== undefined && (subresource === undefined || resource.subresources.includes(subresource));
  if (!known) throw new StatusError(404, "NotFound", "the server could not find the requested resource");
  const query = url.searchParams;
  const watches = name === undefined && ["true", "1"].includes(query.get("watch") ?? "");
  const verb = verbOf(method, name !== undefined, watches);
  return { verb, resource, namespace: inside ? parts[1] : undefined, name, subresource, query };
}

function verbOf(method: string, named: boolean, watches: boolean): string {
  switch (method) {
    case "GET":
      return watches ? "watch" : named ? "get" : "list";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return named ? "delete" : "deletecollection";
    default:
      throw new StatusError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
  }
}
