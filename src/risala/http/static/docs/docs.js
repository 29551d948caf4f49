// Starts Swagger UI on this service's own document. Nothing here asks any other host.
"use strict";

SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#reference",
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  deepLinking: true,
  docExpansion: "list",
  defaultModelRendering: "example",
  defaultModelExpandDepth: 3,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  validatorUrl: null,
});
