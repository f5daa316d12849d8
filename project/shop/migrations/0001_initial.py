"""The shop's tables."""

# ruff: noqa: E501 - written by makemigrations
import datetime
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import project.shop.models
from decimal import Decimal
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Invoice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.CharField(editable=False, max_length=20, unique=True)),
                ('total', models.DecimalField(decimal_places=2, max_digits=12)),
                ('charge', models.CharField(max_length=40)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='Order',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.CharField(default=project.shop.models.new_number, max_length=20, unique=True)),
                ('customer', models.CharField(max_length=100)),
                ('address', models.CharField(blank=True, max_length=200)),
                ('card', models.CharField(default=project.shop.models.new_card, max_length=40, unique=True)),
                ('freight', models.DecimalField(decimal_places=2, default=Decimal('0'), max_digits=10)),
                ('total', models.DecimalField(decimal_places=2, default=Decimal('0'), max_digits=12)),
                ('way', models.CharField(choices=[('shelf', 'From the shelf'), ('wholesale', 'In many parcels'), ('special', 'Bought at suppliers')], default='shelf', max_length=10)),
                ('fault', models.CharField(choices=[('none', 'Nothing goes wrong'), ('charge_times_out', 'The bank charges, then never answers'), ('worker_killed', 'The worker is killed while charging'), ('shipping_fails_once', 'Shipping fails once'), ('mail_bounces', 'The thank-you mail bounces'), ('card_declined', 'The card is declined'), ('invoice_refused', 'The goods break after the charge'), ('shipping_closed', 'The warehouse is closed for an hour'), ('refund_refused', 'The goods break, and the bank refuses the refund'), ('shipping_fails', 'Shipping always fails'), ('box_breaks', 'One box of many is dropped'), ('sold_out', 'The supplier has sold out'), ('supplier_keeps', 'The goods break, and the supplier takes nothing back')], default='none', max_length=20)),
                ('placed_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='CreditNote',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.CharField(max_length=20, unique=True)),
                ('total', models.DecimalField(decimal_places=2, max_digits=12)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('invoice', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='credit_note', to='shop.invoice')),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.AddField(
            model_name='invoice',
            name='order',
            field=models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='invoice', to='shop.order'),
        ),
        migrations.CreateModel(
            name='Product',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sku', models.CharField(max_length=20, unique=True)),
                ('name', models.CharField(max_length=100)),
                ('unit', models.CharField(blank=True, max_length=60)),
                ('price', models.DecimalField(decimal_places=2, max_digits=10)),
                ('stock', models.IntegerField(default=0)),
            ],
            options={
                'ordering': ['sku'],
                'constraints': [models.CheckConstraint(condition=models.Q(('stock__gte', 0)), name='shop_product_stock_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='Return',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('wish', models.CharField(choices=[('refund', 'The money back'), ('credit', 'Store credit')], default='refund', max_length=10)),
                ('reason', models.CharField(max_length=200)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('order', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='returned', to='shop.order')),
            ],
            options={
                'ordering': ['-pk'],
                'permissions': [('approve_return', 'Can approve a return')],
            },
        ),
        migrations.CreateModel(
            name='StoreCredit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('amount', models.DecimalField(decimal_places=2, max_digits=12)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('returned', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='credit', to='shop.return')),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='Subscription',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('customer', models.CharField(max_length=100)),
                ('card', models.CharField(default=project.shop.models.new_card, max_length=40, unique=True)),
                ('price', models.DecimalField(decimal_places=2, max_digits=10)),
                ('periods', models.PositiveSmallIntegerField(default=12)),
                ('every', models.DurationField(default=datetime.timedelta(days=30))),
                ('grace', models.DurationField(default=datetime.timedelta(days=3))),
                ('product', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='shop.product')),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='OrderLine',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('quantity', models.PositiveIntegerField(validators=[django.core.validators.MinValueValidator(1)])),
                ('unit_price', models.DecimalField(decimal_places=2, max_digits=10)),
                ('discount', models.DecimalField(decimal_places=2, default=Decimal('0'), max_digits=4)),
                ('order', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lines', to='shop.order')),
                ('product', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='shop.product')),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('order', 'product'), name='shop_line_once_per_product'), models.CheckConstraint(condition=models.Q(('quantity__gte', 1)), name='shop_line_quantity'), models.CheckConstraint(condition=models.Q(('discount__gte', 0), ('discount__lte', 1)), name='shop_line_discount')],
            },
        ),
        migrations.CreateModel(
            name='StockMovement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('delivery', 'Delivery'), ('reserve', 'Reserve'), ('release', 'Release'), ('supply', 'Supply'), ('send_back', 'Send Back'), ('return', 'Return')], max_length=10)),
                ('quantity', models.IntegerField()),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('order', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='movements', to='shop.order')),
                ('product', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='movements', to='shop.product')),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('order__isnull', False)), fields=('order', 'product', 'kind'), name='shop_movement_once_per_order')],
            },
        ),
        migrations.CreateModel(
            name='Period',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('charge', models.CharField(max_length=40)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('subscription', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='booked', to='shop.subscription')),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('subscription', 'number'), name='shop_period_once')],
            },
        ),
    ]
