/** The errors of the API server: objects of kind Status, with the texts of the real one. */
import { qualifiedName, type Resource } from "./resources.js";

export class StatusError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: object | undefined;

  constructor(code: number, reason: string, message: string, details?: object) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  get status(): object {
    return {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: this.message,
      reason: this.reason,
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    };
  }
}

function details(resource: Resource, name: string): object {
  return { name, ...(resource.group === "" ? {} : { group: resource.group }), kind: resource.plural };
}

export function notFound(resource: Resource, name: string): StatusError {
  return new StatusError(404, "NotFound", `${qualifiedName(resource)} "${name}" not found`, details(resource, name));
}

export function alreadyExists(resource: Resource, name: string): StatusError {
  const message = `${qualifiedName(resource)} "${name}" already exists`;
  return new StatusError(409, "AlreadyExists", message, details(resource, name));
}

export function conflict(resource: Resource, name: string, why: string): StatusError {
  const message = `Operation cannot be fulfilled on ${qualifiedName(resource)} "${name}": ${why}`;
  return new StatusError(409, "Conflict", message, details(resource, name));
}

export function invalid(resource: Resource, name: string, causes: readonly string[]): StatusError {
  const why = causes.length === 1 ? causes[0] : `[${causes.join(", ")}]`;
  const kind = resource.group === "" ? resource.kind : `${resource.kind}.${resource.group}`;
  const message = `${kind} "${name}" is invalid: ${why}`;
  return new StatusError(422, "Invalid", message, {
    ...details(resource, name),
    causes: causes.map((cause) => ({ reason: "FieldValueInvalid", message: cause })),
  });
}

export function badRequest(message: string): StatusError {
  return new StatusError(400, "BadRequest", message);
}

export function expired(since: number, oldest: number): StatusError {
  return new StatusError(410, "Expired", `too old resource version: ${since} (${oldest})`);
}
