/** The line that a host prints to be called by an issuer that it cannot reach (issuer-route.ts). */
export const ISSUER_REQUEST = "viceroy host: asks for its certificate";
