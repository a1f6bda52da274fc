// Documents of the API, made of its table of routes and of the descriptors of its messages: OpenAPI
// 3.1, and types of TypeScript. Nothing of them is written by hand.
#ifndef CM_SERVER_SUPERVISOR_API_DOCUMENT_H
#define CM_SERVER_SUPERVISOR_API_DOCUMENT_H

#include "server/ops/page.h"

void cm_api_openapi(cm_page *page);
void cm_api_typescript(cm_page *page);

#endif
