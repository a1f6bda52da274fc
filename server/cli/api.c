// `carom api`: the documents of /api/v1.
#include <stdio.h>

#include "server/cli/cli.h"
#include "server/supervisor/api_document.h"

static int run_command(int argc, char **argv)
{
    bool openapi = false, typescript = false;
    const cm_option options[] = {
        {.name = "openapi", .kind = CM_OPTION_FLAG, .value = &openapi},
        {.name = "typescript", .kind = CM_OPTION_FLAG, .value = &typescript}};
    int status = cm_cli_options(argc, argv, options, 2, NULL, 0, NULL);
    if (status != CM_STATUS_DONE) {
        return status;
    }
    if (openapi == typescript) {
        return cm_cli_usage("api: expected --openapi or --typescript, one of them");
    }
    cm_page *page = cm_page_create();
    if (page != NULL) {
        (openapi ? cm_api_openapi : cm_api_typescript)(page);
    }
    if (page == NULL || page->cut) {
        cm_page_drop(page);
        return cm_cli_failed("api: out of memory");
    }
    fwrite(page->text, 1, page->size, stdout);
    cm_page_drop(page);
    return cm_cli_finish(CM_STATUS_DONE);
}

const cm_command cm_api_command = {
    "api", run_command,
    "documents of the API that serve --http has\n"
    "usage: carom api --openapi\n"
    "       carom api --typescript\n"
    "\n"
    "  --openapi      OpenAPI 3.1, as GET /api/v1/openapi.json gives it\n"
    "  --typescript   types of its requests and answers\n"
    "\n"
    "OPERATE.md tells how it is used; carom token api-key makes keys.\n",
    NULL};
