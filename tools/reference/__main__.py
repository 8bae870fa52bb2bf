"""Write the generated parts of docs/reference anew."""

from tools.reference.pages import generated, generated_pages

for page in generated_pages():
    page.write_text(generated(page.read_text()))
